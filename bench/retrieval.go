package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/bench/pairs"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// benchRetrieval runs find with the descriptions of commands. The corpus is every distinct command
// of the pairs. The questions are all held-out ones (pairs.Pair.HeldOut) and, separately, all
// others, to show whether anything was fitted to the development half. A hit is any command equal
// to one paired with the description, with white space folded. BM25 alone is the path "words" of
// find itself, by its rank in each hit's scores, and so the same index in the same run.
func benchRetrieval(ctx context.Context, o options, r *report) (err error) {
	list, err := pairs.Load(o.data)
	if err != nil {
		return err
	}
	s, err := startSystem(ctx, filepath.Join(o.dir, "retrieval"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.loadCommands(ctx, list); err != nil {
		return err
	}

	// The keys report whether the question is held out.
	find, words := map[bool]*score{true: {}, false: {}}, map[bool]*score{true: {}, false: {}}
	for _, q := range pairs.Questions(list) {
		resp, err := commands.FindQuestion.Ask(ctx, s.client, commands.FindRequest{Text: q.Text, Limit: 100})
		if err != nil {
			return err
		}
		var byWords []commands.Hit
		for _, h := range resp.Hits {
			if wordsRank(h) > 0 {
				byWords = append(byWords, h)
			}
		}
		slices.SortStableFunc(byWords, func(a, b commands.Hit) int { return wordsRank(a) - wordsRank(b) })
		wanted := map[string]bool{}
		for _, c := range q.Commands {
			wanted[fold(c)] = true
		}
		find[q.HeldOut].add(resp.Hits, wanted)
		words[q.HeldOut].add(byWords, wanted)
	}
	for _, set := range []struct {
		name    string
		heldOut bool
	}{{"held-out", true}, {"other", false}} {
		r.add(fmt.Sprintf("find, %d %s questions", find[set.heldOut].n, set.name), "%s", find[set.heldOut])
		r.add("BM25 over words alone, the same", "%s", words[set.heldOut])
	}
	return nil
}

func (s *system) loadCommands(ctx context.Context, list []pairs.Pair) error {
	var events []schemas.Event
	seen := map[string]bool{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, p := range list {
		if seen[fold(p.Command)] {
			continue
		}
		seen[fold(p.Command)] = true
		payload, err := schemas.EncodePayload(&recountv1.CommandExecuted{Command: p.Command, Cwd: "/", Shell: "bash"})
		if err != nil {
			return err
		}
		at = at.Add(time.Second)
		events = append(events, schemas.Event{Type: schemas.TypeCommandExecuted, Source: "bench", Time: at, Key: []byte(p.Command), ContentType: schemas.ContentJSON, Payload: payload})
	}
	for batch := range slices.Chunk(events, 1000) {
		if _, err := s.node.Log().Append(ctx, schemas.TopicCommands, batch...); err != nil {
			return err
		}
	}
	_, err := s.load(ctx, nil, 0) // load only waits until the commands are visible
	return err
}

func wordsRank(h commands.Hit) int {
	for _, p := range h.Scores {
		if p.Path == "words" {
			return p.Rank
		}
	}
	return 0
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// score is hit@1, hit@10 and MRR@10.
type score struct {
	n, first, hits int
	rr             float64
}

func (s *score) add(hits []commands.Hit, wanted map[string]bool) {
	s.n++
	for i, h := range hits[:min(10, len(hits))] {
		if wanted[fold(h.Command)] {
			if i == 0 {
				s.first++
			}
			s.hits++
			s.rr += 1 / float64(i+1)
			return
		}
	}
}

func (s *score) String() string {
	n := float64(s.n)
	return fmt.Sprintf("hit@1 %.3f, hit@10 %.3f, MRR@10 %.3f", float64(s.first)/n, float64(s.hits)/n, s.rr/n)
}
