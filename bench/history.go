package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/bench/pairs"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// history generates a shell history with the shape of a real one, always the same for a seed: a few
// commands make up most of it (Zipf), one in eight has an argument never seen before, a session has
// some dozens of commands in one of four directories of one of twelve workspaces, and one command
// in twelve fails.
type history struct {
	rng     *rand.Rand
	zipf    *rand.Zipf
	base    []string
	at      time.Time
	n       int
	session int
	left    int
	cwd     string
	ws      string
}

func newHistory(o options) (*history, error) {
	base, err := baseCommands(o.data)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(o.seed), 0x5eed))
	rng.Shuffle(len(base), func(i, j int) { base[i], base[j] = base[j], base[i] })
	return &history{
		rng: rng, zipf: rand.NewZipf(rng, 1.07, 4, uint64(len(base)-1)), base: base,
		at: time.Date(2025, 1, 1, 8, 0, 0, 0, time.UTC),
	}, nil
}

func (h *history) next() (schemas.Event, error) {
	if h.left == 0 {
		h.session++
		h.left = 5 + h.rng.IntN(60)
		w := h.rng.IntN(12)
		h.ws = fmt.Sprintf("/src/service-%02d", w)
		h.cwd = fmt.Sprintf("%s/pkg%d", h.ws, h.rng.IntN(4))
		h.at = h.at.Add(time.Duration(h.rng.IntN(3600)) * time.Second)
	}
	h.left--
	h.n++
	h.at = h.at.Add(time.Duration(1+h.rng.IntN(90_000)) * time.Millisecond)
	cmd := h.base[h.zipf.Uint64()]
	if h.rng.IntN(8) == 0 {
		cmd += fmt.Sprintf(" ./run-%d/out.log", h.n)
	}
	var exit int32
	if h.rng.IntN(12) == 0 {
		exit = 1 + int32(h.rng.IntN(2))
	}
	payload, err := schemas.EncodePayload(&recountv1.CommandExecuted{
		Command: cmd, Workspace: h.ws, Cwd: h.cwd, Session: fmt.Sprintf("s%06d", h.session), Shell: "bash", User: "ada", Host: "laptop",
		StartedAt: timestamppb.New(h.at), Duration: durationpb.New(time.Duration(h.rng.IntN(5000)) * time.Millisecond), ExitCode: &exit,
	})
	if err != nil {
		return schemas.Event{}, err
	}
	e := schemas.Event{
		Type: schemas.TypeCommandExecuted, Source: "bench", Time: h.at, Key: []byte(h.ws),
		ContentType: schemas.ContentJSON, Payload: payload,
	}
	e.ID = e.DeriveID()
	return e, nil
}

func baseCommands(file string) ([]string, error) {
	list, err := pairs.Load(file)
	if err != nil {
		return nil, err
	}
	var base []string
	seen := map[string]bool{}
	for _, p := range list {
		if !seen[p.Command] {
			seen[p.Command] = true
			base = append(base, p.Command)
		}
	}
	return base, nil
}
