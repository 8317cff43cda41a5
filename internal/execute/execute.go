package execute

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/commandevent"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/shellwords"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxTail is how many bytes at the end of the output are recorded.
const maxTail = 8 << 10

// Run runs a command to its end and records it: its start while it runs, its outcome when it has
// ended, with the hashes of the files that it names as written, and with the end of its output if keepOutput is true. code is the exit code of the command,
// also if it could not be recorded, which is reported on standard error.
func Run(ctx context.Context, con *connect.Connector, f commandevent.Details, keepOutput bool, args []string) (code int, err error) {
	text := args[0]
	if len(args) > 1 {
		text = shellwords.Join(args)
	}
	p, err := commandevent.New(con.Getenv, f, text)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	p.StartedAt = timestamppb.New(start)
	cwd := p.Cwd // as it is on disk
	cfg, err := con.NodeConfig()
	if err != nil {
		return 0, err
	}
	e, _, unfit := commandevent.Event(cfg, p, f.ID)
	// The command does not wait for its event. The event must be recorded even after an interrupt,
	// so the work outlives ctx.
	outliving := context.WithoutCancel(ctx)
	var first connect.Recorded
	started := make(chan error, 1)
	go func() {
		err := unfit
		if err == nil {
			first, err = con.Append(outliving, cfg, e, false)
		}
		started <- err
	}()

	writes := outputsOf(text, cwd)
	out := &tail{max: maxTail}
	code, runErr := runChild(con.Terminal, args, out, keepOutput)
	took := time.Since(start)
	if err := <-started; err != nil {
		con.Tell(fmt.Sprintf("not recorded: %s", err))
		return code, nil
	}
	o := &recountv1.OutcomeObserved{
		CommandEventId: e.ID.String(), ExitCode: proto32(code), Duration: durationpb.New(took),
		ObservedAt: timestamppb.New(start.Add(took)), OutputTail: out.String(), Author: p.Author, Files: writes.written(),
	}
	if runErr != nil {
		o.OutputTail = runErr.Error()
	} else if cfg.RecordChanges == nil || *cfg.RecordChanges {
		o.Changes = changes(new(recording.Looker).Between(start, start.Add(took), cwd, con.Getenv("HOME"), cfg.DataDir))
	}
	r, err := connect.Redactor(cfg)
	var payload []byte
	if err == nil {
		r.Event(o)
		payload, err = schemas.EncodePayload(o)
	}
	if err != nil {
		con.Tell(fmt.Sprintf("the outcome was not recorded: %s", err))
		return code, nil
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
		done.Spooled, err = true, con.Spool(cfg, outcome)
	} else {
		done, err = con.Append(outliving, cfg, outcome, false)
	}
	if err != nil {
		con.Tell(fmt.Sprintf("the outcome was not recorded: %s", err))
	} else if con.JSON {
		// The standard output belongs to the command.
		enc := json.NewEncoder(con.Err)
		if err := enc.Encode(executed{ID: e.ID, Position: first.Position, Outcome: done.Position, Spooled: done.Spooled, ExitCode: code, Duration: took.Nanoseconds()}); err != nil {
			return 0, err
		}
	}
	if runErr != nil {
		con.Tell(runErr.Error())
	}
	return code, nil
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
