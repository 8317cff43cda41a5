package projtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
)

// toy is a minimal projection: every command by its position, in memory, written to one file by
// rename. Its faults are switched on by name, to check that the suite finds them.
type toy struct {
	dir   string
	fault string

	mu    sync.Mutex
	state toyState
}

type toyState struct {
	Next map[string]int64
	Seen map[string]bool
	Rows map[string]string
}

func openToy(dir, fault string) (projections.Projection, error) {
	p := &toy{dir: dir, fault: fault, state: toyState{map[string]int64{}, map[string]bool{}, map[string]string{}}}
	b, err := os.ReadFile(filepath.Join(dir, "state"))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &p.state); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if fault == "offset lost at restart" {
		clear(p.state.Next)
		clear(p.state.Seen)
	}
	return p, nil
}

func (p *toy) Name() string { return "toy" }

func (p *toy) Next(tp schemas.TopicPartition) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Next[tp.String()]
}

func (p *toy) Watermark() schemas.Watermark {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := schemas.Watermark{}
	for tp, next := range p.state.Next {
		pos, err := schemas.ParsePosition(tp + "/0")
		if err != nil {
			panic(err)
		}
		w[pos.TP()] = next
	}
	return w
}

func (p *toy) Apply(_ context.Context, b schemas.Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	tp := b.TP().String()
	if b.Next <= p.state.Next[tp] && p.fault != "known batch applied again" {
		return nil
	}
	for _, r := range b.Records {
		if len(r.EventId) != 16 && p.fault != "poison not seen" {
			if p.fault != "half a batch" {
				return projections.Poison(schemas.PositionOf(r.Origin), "event id of %d bytes", len(r.EventId))
			}
		}
	}
	for i, r := range b.Records {
		pos := schemas.PositionOf(r.Origin)
		id := fmt.Sprintf("%s %x", tp, r.EventId)
		if pos.Offset < p.state.Next[tp] && p.fault != "known batch applied again" {
			continue
		}
		if len(r.EventId) != 16 && p.fault == "half a batch" {
			return projections.Poison(pos, "event id of %d bytes", len(r.EventId))
		}
		if p.state.Seen[id] && p.fault != "event applied twice" {
			continue
		}
		p.state.Seen[id] = true
		key := fmt.Sprintf("%s/%08d", tp, pos.Offset)
		row := ""
		if in := r.GetIntent(); in != nil {
			row = in.Command
		}
		switch p.fault {
		case "depends on the order of partitions":
			row += fmt.Sprint(len(p.state.Rows))
		case "depends on the batch":
			row += fmt.Sprint(i)
		case "blind to the command":
			row = ""
		case "known batch applied again":
			key = fmt.Sprintf("%s/%08d", tp, len(p.state.Rows))
		}
		p.state.Rows[key] = row
	}
	p.state.Next[tp] = max(b.Next, p.state.Next[tp])
	return p.write()
}

func (p *toy) write() error {
	b, err := json.Marshal(p.state)
	if err != nil {
		return err
	}
	tmp := filepath.Join(p.dir, "state.tmp")
	if err := os.WriteFile(tmp, b, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(p.dir, "state"))
}

func (p *toy) Dump(_ context.Context, yield func(k, v []byte) error) error {
	p.mu.Lock()
	rows := maps.Clone(p.state.Rows)
	p.mu.Unlock()
	keys := slices.Sorted(maps.Keys(rows))
	if p.fault == "dump out of order" {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if err := yield([]byte(k), []byte(rows[k])); err != nil {
			return err
		}
	}
	return nil
}

func (p *toy) Flush() error { return nil }
func (p *toy) Close() error { return nil }

func config(fault string) projtest.Config {
	return projtest.Config{Records: 120, Crashes: 8, Kind: projections.Definition{
		Name: "toy", Version: 1,
		Open: func(dir string) (projections.Projection, error) { return openToy(dir, fault) },
	}}
}

const faultEnv = "RECOUNT_PROJTEST_FAULT"

// TestToy runs the suite over the toy: without a fault, or with one as the child process of
// TestSuiteCatches.
func TestToy(t *testing.T) { projtest.Run(t, config(os.Getenv(faultEnv))) }

// TestSuiteCatches checks that the suite finds each fault of the toy.
func TestSuiteCatches(t *testing.T) {
	for fault, by := range map[string]string{
		"offset lost at restart":             "Crashes",
		"known batch applied again":          "AnyBatching",
		"event applied twice":                "EventsDeliveredTwice",
		"depends on the order of partitions": "AnyBatching",
		"depends on the batch":               "AnyBatching",
		"dump out of order":                  "DumpSeesOneState",
		"blind to the command":               "RootTellsStatesApart",
		"half a batch":                       "Poison",
		"poison not seen":                    "Poison",
	} {
		t.Run(strings.ReplaceAll(fault, " ", "_"), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestToy$/^"+by+"$")
			cmd.Env = append(os.Environ(), faultEnv+"="+fault)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the suite passes a projection whose fault is: %s", fault)
			}
			if !regexp.MustCompile(`--- FAIL: TestToy/` + by).Match(out) {
				t.Fatalf("not caught by %s:\n%s", by, out)
			}
		})
	}
}
