package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/recountdb/recount/internal/shellwords"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/childprocess"
	"github.com/recountdb/recount/internal/commandevent"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func (a *app) execCmd() *cobra.Command {
	var f recordFlags
	var quiet bool
	c := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "Run a command and record it with its outcome",
		Long: `Run a command and record it. Its start is appended while it runs, without an exit
code; its end follows as an outcome.observed with exit code, duration and the end
of what it printed. So a crash in between leaves a command whose outcome is
unknown, and loses nothing.

Streams and signals pass through untouched, and exec exits as the command did
(128 plus the signal's number if one ended it, 127 if there is no such command).
If it cannot be recorded, it runs all the same, and the reason is told at the end.
With --json the ids and positions of its events are printed on the standard error.`,
		Example: `  recount exec -- make test
  recount exec --author claude --intent "see whether the fix holds" -- go test ./...
  recount exec -- sh -c 'make && make install'`,
		Args: wantCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.exec(cmd.Context(), f, !quiet, args)
		},
	}
	f.contextFlags(c)
	c.Flags().BoolVar(&quiet, "no-output", false, "do not record what it prints, and leave it the terminal")
	return c
}

// maxTail is how many bytes at the end of the output are recorded.
const maxTail = 8 << 10

func (a *app) exec(ctx context.Context, f recordFlags, keepOutput bool, args []string) error {
	text := args[0]
	if len(args) > 1 {
		text = shellwords.Join(args)
	}
	p, err := commandevent.New(a.Getenv, f.Details, text)
	if err != nil {
		return err
	}
	start := time.Now()
	p.StartedAt = timestamppb.New(start)
	cfg, err := a.NodeConfig()
	if err != nil {
		return err
	}
	e, _, err := commandevent.Event(cfg, p, f.Id)
	if err != nil {
		return err
	}
	// The command does not wait for its event. The event must be recorded even after an interrupt,
	// so the work outlives ctx.
	outliving := context.WithoutCancel(ctx)
	var first connect.Recorded
	started := make(chan error, 1)
	go func() {
		var err error
		first, err = a.Append(outliving, cfg, e, false)
		started <- err
	}()

	out := &childprocess.Tail{Max: maxTail}
	code, runErr := childprocess.Run(a.Terminal, args, out, keepOutput)
	took := time.Since(start)
	if err := <-started; err != nil {
		fmt.Fprintf(a.Err, "recount: not recorded: %s\n", err)
		return exitError(code)
	}
	o := &recountv1.OutcomeObserved{
		CommandEventId: e.ID.String(), ExitCode: proto32(code), Duration: durationpb.New(took),
		ObservedAt: timestamppb.New(start.Add(took)), OutputTail: out.String(), Author: p.Author,
	}
	if runErr != nil {
		o.OutputTail = runErr.Error()
	}
	r, err := connect.Redactor(cfg)
	if err != nil {
		return err
	}
	r.Event(o)
	payload, err := schemas.EncodePayload(o)
	if err != nil {
		return err
	}
	outcome := schemas.Event{
		// The id depends only on the command's id, because a command ends once. The key is the
		// command's, so that the outcome follows it in the same partition.
		ID:   schemas.NewCanon("recount/cli/outcome/1").Bytes(e.ID[:]).ID(),
		Type: schemas.TypeOutcomeObserved, Source: recording.Source, Time: o.ObservedAt.AsTime(), Key: e.Key,
		ContentType: schemas.ContentJSON, Payload: payload,
	}
	var done connect.Recorded
	if first.Spooled {
		// Spool the outcome too, so that it comes after its command.
		done.Spooled, err = true, a.Spool(cfg, outcome)
	} else {
		done, err = a.Append(outliving, cfg, outcome, false)
	}
	if err != nil {
		fmt.Fprintf(a.Err, "recount: the outcome is not recorded: %s\n", err)
	} else if a.JSON {
		// The standard output belongs to the command.
		enc := json.NewEncoder(a.Err)
		if err := enc.Encode(executed{ID: e.ID, Position: first.Position, Outcome: done.Position, Spooled: done.Spooled, ExitCode: code, Duration: took.Nanoseconds()}); err != nil {
			return err
		}
	}
	if runErr != nil {
		fmt.Fprintf(a.Err, "recount: %s\n", runErr)
	}
	if code == 0 {
		return nil
	}
	return exitError(code)
}

// executed is what exec prints with --json, on standard error.
type executed struct {
	ID       schemas.EventID  `json:"id"`
	Position schemas.Position `json:"position"`
	Outcome  schemas.Position `json:"outcome_position"`
	ExitCode int              `json:"exit_code"`
	Duration int64            `json:"duration_ns"`
	// Spooled reports that the positions are not known yet.
	Spooled bool `json:"spooled,omitempty"`
}

func proto32(n int) *int32 { v := int32(n); return &v }
