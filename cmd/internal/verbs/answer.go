package verbs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/terminalsearch"
	"github.com/recountdb/recount/query/commands/ask"
)

// Asked is a line that the small program writes to the engine, which holds the data directory for as
// long as a search without a server lasts (verb answer): a question, or the end of one.
type Asked struct {
	ID     int                `json:"id"`
	Search *ask.SearchRequest `json:"search,omitempty"`
	Around *ask.AroundRequest `json:"around,omitempty"`
	// Cancel means that the answer of the question with this id is not wanted.
	Cancel bool `json:"cancel,omitempty"`
}

// Answered is a line of the engine.
type Answered struct {
	ID     int                 `json:"id"`
	Search *ask.SearchResponse `json:"search,omitempty"`
	Around *ask.AroundResponse `json:"around,omitempty"`
	Error  string              `json:"error,omitempty"`
}

// Answer returns the hidden verb answer, which answers questions on the standard input until that
// ends.
func Answer(t *render.Terminal, by Searcher) *cobra.Command {
	return &cobra.Command{
		Use: "answer", Short: "Answer the questions of recount search on the standard input", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asker, end, err := by.Asker(true)
			if err != nil {
				return err
			}
			defer end()
			return answerAll(cmd.Context(), t.In, t.Out, asker)
		},
	}
}

// answerAll answers questions side by side.
func answerAll(ctx context.Context, in io.Reader, out io.Writer, by terminalsearch.Asker) error {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex // guards running and out
	running := map[int]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	enc := json.NewEncoder(out)
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var q Asked
		if err := lines.Decode(&q); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		mu.Lock()
		if q.Cancel {
			if stop := running[q.ID]; stop != nil {
				stop()
			}
			mu.Unlock()
			continue
		}
		one, stop := context.WithCancel(ctx)
		running[q.ID] = stop
		mu.Unlock()
		all.Go(func() {
			a := answerOne(one, q, by)
			mu.Lock()
			defer mu.Unlock()
			delete(running, q.ID)
			stop()
			_ = enc.Encode(a) // who asked may be gone
		})
	}
}

func answerOne(ctx context.Context, q Asked, by terminalsearch.Asker) Answered {
	a := Answered{ID: q.ID}
	var err error
	switch {
	case q.Search != nil:
		var r ask.SearchResponse
		r, err = by.Search(ctx, *q.Search)
		a.Search = &r
	case q.Around != nil:
		var r ask.AroundResponse
		r, err = by.Around(ctx, *q.Around)
		a.Around = &r
	default:
		err = errors.New("no question")
	}
	if err != nil {
		a.Error, a.Search, a.Around = err.Error(), nil, nil
	}
	return a
}
