package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
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
		text = render.ShellJoin(args)
	}
	p, err := payload(a.getenv, f.details, text)
	if err != nil {
		return err
	}
	start := time.Now()
	p.StartedAt = timestamppb.New(start)
	cfg, err := a.nodeConfig()
	if err != nil {
		return err
	}
	e, _, err := event(cfg, p, f.id)
	if err != nil {
		return err
	}
	// The command does not wait for its event. The event must be recorded even after an interrupt,
	// so the work outlives ctx.
	outliving := context.WithoutCancel(ctx)
	var first recorded
	started := make(chan error, 1)
	go func() {
		var err error
		first, err = a.append(outliving, cfg, e, false)
		started <- err
	}()

	out := &tail{max: maxTail}
	code, runErr := runChild(a.Terminal, args, out, keepOutput)
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
	r, err := redactor(cfg)
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
	var done recorded
	if first.Spooled {
		// Spool the outcome too, so that it comes after its command.
		done.Spooled, err = true, a.spool(cfg, outcome)
	} else {
		done, err = a.append(outliving, cfg, outcome, false)
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

// runChild runs the command to its end. It fails only if the command could not start.
func runChild(t *render.Terminal, args []string, out io.Writer, keepOutput bool) (code int, err error) {
	child := exec.Command(args[0], args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = t.In, t.Out, t.Err
	if keepOutput {
		child.Stdout, child.Stderr = io.MultiWriter(t.Out, out), io.MultiWriter(t.Err, out)
	}
	// The terminal sends its signals to the whole foreground group, which includes the child;
	// passing these on would deliver them twice. All others are passed on.
	signals := make(chan os.Signal, 16)
	passed := []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT, syscall.SIGQUIT}
	signal.Notify(signals, passed...)
	defer signal.Stop(signals)
	stdin, isFile := t.In.(*os.File)
	fromTerminal := isFile && term.IsTerminal(int(stdin.Fd()))

	if err := child.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return 127, err
		}
		return 126, err
	}
	ended := make(chan struct{})
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case s := <-signals:
				if fromTerminal && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
					continue
				}
				_ = child.Process.Signal(s) // fails if the child has ended already
			case <-ended:
				return
			}
		}
	})
	err = child.Wait()
	close(ended)
	passing.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	if ws, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return child.ProcessState.ExitCode(), nil
}

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.max; over > 0 {
		t.cut = true
		// Trim only now and then, not at each write.
		if len(t.buf) > 4*t.max {
			t.buf = append(t.buf[:0], t.buf[over:]...)
		}
	}
	return len(b), nil
}

// String returns the tail as text; if the start was cut, it begins at the start of a line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if over := len(b) - t.max; over > 0 {
		b = b[over:]
	}
	if t.cut {
		if nl := bytes.IndexByte(b, '\n'); nl >= 0 && nl < len(b)/2 {
			b = b[nl+1:]
		}
		for len(b) > 0 && !utf8.RuneStart(b[0]) {
			b = b[1:]
		}
	}
	return history.Clean(string(b))
}
