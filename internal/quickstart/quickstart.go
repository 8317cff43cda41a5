package quickstart

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/commandview"
	"github.com/recountdb/recount/internal/render/hitview"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// sample is a real recording, described in sample/README.md.
//
//go:embed sample/openhands.jsonl
var sample []byte

// questions are what the quickstart asks about the sample.
var questions = []struct {
	words   string
	why     string
	request commands.FindRequest
}{
	{
		words: `recount find "build fails" --exit fail`, why: "What went wrong with the build?",
		request: commands.FindRequest{Text: "build fails", Filters: commands.Filters{Exit: "fail"}},
	},
	{
		words: `recount find "install missing libraries"`, why: "How were the missing libraries installed? (\"missing\" and \"libraries\" occur in no command)",
		request: commands.FindRequest{Text: "install missing libraries"},
	},
	{
		words: `recount find "where is CommandParser defined"`, why: "Where is that class?",
		request: commands.FindRequest{Text: "where is CommandParser defined"},
	},
}

const questionLimit = 3

// Result is what quickstart prints with --json.
type Result struct {
	DataDir  string                           `json:"data_dir"`
	Imported int                              `json:"imported"`
	Answers  map[string]commands.FindResponse `json:"answers"`
	Why      commands.WhyResponse             `json:"why"`
	Verified api.VerifyReport                 `json:"verified"`
}

func Run(ctx context.Context, t *render.Terminal, version string, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "recount-quickstart-")
	if err != nil {
		return fmt.Errorf("a temporary directory: %w", err)
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	n, err := node.OpenLocal(ctx, node.Config{DataDir: dir, Version: version}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	result := Result{DataDir: dir, Answers: map[string]commands.FindResponse{}}

	say := func(format string, args ...any) {
		if !t.JSON {
			t.Printf(format, args...)
		}
	}
	start := time.Now()
	im, err := importing.Bytes(ctx, n, "the sample", sample, history.JSONL)
	if err != nil {
		return err
	}
	result.Imported = int(im.Appended)
	if result.Imported == 0 || im.Skipped > 0 {
		return fmt.Errorf("the sample: %d events appended, skipped %v", result.Imported, im.Problems)
	}
	say("%s\n", t.Paint(render.Bold, fmt.Sprintf("Appended %d commands to a durable log in %s.", result.Imported, query.Took(time.Since(start)))))
	say("They are real: a coding agent's three attempts at bugs of the Pony compiler (OpenHands, MIT).\n")

	for i, q := range questions {
		q.request.Limit = questionLimit
		resp, err := commands.FindQuestion.Ask(ctx, n, q.request)
		if err != nil {
			return err
		}
		result.Answers[q.request.Text] = resp
		if t.JSON {
			continue
		}
		say("\n%s\n%s\n\n", t.Paint(render.Bold, fmt.Sprintf("%d. %s", i+1, q.why)), t.Paint(render.Dim, "$ "+q.words))
		hitview.Hits(t, resp, time.Now(), true)
		if i == 0 {
			t.PrintProof(resp.Proof, resp.Watermark.String())
		}
	}

	if result.Why, err = whyLastFailure(ctx, n); err != nil {
		return err
	}
	if !t.JSON {
		say("\n%s\n%s\n\n", t.Paint(render.Bold, "4. What led to the newest failure?"), t.Paint(render.Dim, "$ recount why"))
		commandview.Why(t.NewDrawing(false, time.Now()), result.Why)
	}

	result.Verified, err = n.Verify(ctx, api.VerifyRequest{}, nil)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(result)
	}
	say("\n%s\n%s\n\n", t.Paint(render.Bold, "5. Can it be trusted? Replay the log from offset zero, and compare."), t.Paint(render.Dim, "$ recount verify"))
	nodeview.Verify(t, result.Verified)
	if !result.Verified.OK {
		return errors.New("the replayed state differs: this should not happen, please report it")
	}
	if keep {
		say("\nThe data directory is kept: recount --data-dir %s find …\n", dir)
	}
	say(`
%s
  recount import history              import your own shell history
  eval "$(recount hook bash)"         record from now on (zsh and fish: recount hook --help)
  recount find --exit fail --since 1w query; --proof shows how an answer was computed
  recount why                         what led to the newest failure here
  recount up                          a server with an HTTP API and a Kafka listener
`, t.Paint(render.Bold, "Now yours:"))
	return nil
}

func whyLastFailure(ctx context.Context, n *node.Node) (commands.WhyResponse, error) {
	r, err := commands.FindQuestion.Ask(ctx, n, commands.FindRequest{Limit: 1, Filters: commands.Filters{Exit: "fail"}})
	if err != nil {
		return commands.WhyResponse{}, err
	}
	if len(r.Hits) == 0 {
		return commands.WhyResponse{}, errors.New("the sample: nothing in it failed")
	}
	return commands.WhyQuestion.Ask(ctx, n, commands.WhyRequest{Ref: r.Hits[0].ID.String()})
}
