package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// benchRetrieval asks find for commands by their descriptions: every distinct
// command of the pairs is in the corpus, 600 descriptions that the concept table
// was not developed on (an odd first byte of their SHA-256) are the questions. A
// hit is any command equal to one paired with the description, white space
// folded. BM25 alone is find's own words path, asked for by its rank in each
// hit's scores, and so the same index in the same run.
func benchRetrieval(ctx context.Context, o options, r *report) (err error) {
	pairs, err := loadPairs(o.data)
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "retrieval"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.loadCommands(ctx, pairs); err != nil {
		return err
	}

	wanted := map[string]map[string]bool{}
	var questions []string
	for _, p := range pairs {
		if wanted[p.description] == nil {
			wanted[p.description] = map[string]bool{}
			if sha256.Sum256([]byte(p.description))[0]%2 == 1 {
				questions = append(questions, p.description)
			}
		}
		wanted[p.description][fold(p.command)] = true
	}
	rng := rand.New(rand.NewPCG(uint64(o.seed), 600))
	rng.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
	questions = questions[:min(600, len(questions))]

	var find, words score
	for _, q := range questions {
		resp, err := s.client.Find(ctx, query.FindRequest{Text: q, Limit: 100})
		if err != nil {
			return err
		}
		var byWords []query.Hit
		for _, h := range resp.Hits {
			if wordsRank(h) > 0 {
				byWords = append(byWords, h)
			}
		}
		slices.SortStableFunc(byWords, func(a, b query.Hit) int { return wordsRank(a) - wordsRank(b) })
		find.add(resp.Hits, wanted[q])
		words.add(byWords, wanted[q])
	}
	r.add(fmt.Sprintf("find, %d questions", len(questions)), "%s", find)
	r.add("BM25 over words alone", "%s", words)
	return nil
}

func (s *system) loadCommands(ctx context.Context, pairs []pair) error {
	var events []schemas.Event
	seen := map[string]bool{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range pairs {
		if seen[fold(p.command)] {
			continue
		}
		seen[fold(p.command)] = true
		payload, err := schemas.EncodePayload(&recountv1.CommandExecuted{Command: p.command, Cwd: "/", Shell: "bash"})
		if err != nil {
			return err
		}
		at = at.Add(time.Second)
		events = append(events, schemas.Event{Type: schemas.TypeCommandExecuted, Source: "bench", Time: at, Key: []byte(p.command), ContentType: schemas.ContentJSON, Payload: payload})
	}
	for batch := range slices.Chunk(events, 1000) {
		if _, err := s.node.Log().Append(ctx, schemas.TopicCommands, batch...); err != nil {
			return err
		}
	}
	_, err := s.load(ctx, nil, 0) // nothing more: only wait until it is visible
	return err
}

func wordsRank(h query.Hit) int {
	for _, p := range h.Scores {
		if p.Path == "words" {
			return p.Rank
		}
	}
	return 0
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// score is hit@10 and MRR@10.
type score struct {
	n, hits int
	rr      float64
}

func (s *score) add(hits []query.Hit, wanted map[string]bool) {
	s.n++
	for i, h := range hits[:min(10, len(hits))] {
		if wanted[fold(h.Command)] {
			s.hits++
			s.rr += 1 / float64(i+1)
			return
		}
	}
}

func (s score) String() string {
	return fmt.Sprintf("hit@10 %.3f, MRR@10 %.3f", float64(s.hits)/float64(s.n), s.rr/float64(s.n))
}
