package importing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Agents imports what files say that agents said and did.
func (im *Importer) Agents(ctx context.Context, files []AgentFile, o agentlog.Options) error {
	im.unit = "session"
	for _, file := range files {
		if err := im.agentFile(ctx, file, o, len(files) > 1); err != nil {
			return err
		}
	}
	switch n := len(files) - len(im.results); {
	case len(im.results) == 0 && n > 0:
		return fmt.Errorf("%d files found, none of them of an agent: accepted are sessions of %s", n, agentlog.Accepted())
	case n > 0:
		fmt.Fprintf(im.term.Err, "recount: files in the directories that are not sessions of an agent, and were not read: %d\n", n)
	}
	return nil
}

// agentFile imports one file. If it is one of many, an error in it does not stop the import of the
// others.
func (im *Importer) agentFile(ctx context.Context, file AgentFile, o agentlog.Options, many bool) error {
	path := file.Path
	leftOut := map[string]int{}
	format := ""
	o.LeftOut = func(what string) { leftOut[what]++ }
	o.Found = func(f string) { format = f }
	o.Began = func(string) { im.held++ }
	o.WorkspaceOf, o.MemoryOf = im.options.Workspace, recording.Cached(recording.MemoryWorkspace)
	o.Redact = func(m proto.Message) { im.redacted += int64(len(im.redactor.Event(m))) }
	o.Time = im.started
	o.Name, o.Cwd = file.name(), file.cwd()
	if info, err := os.Stat(path); path != "-" && err == nil {
		o.Time = info.ModTime()
	}
	before := len(im.results)
	read := func(r io.Reader) iter.Seq2[schemas.Event, error] { return agentEvents(ctx, r, o, many, file.found) }
	var err error
	if file.whole != nil {
		var text []byte
		if text, err = file.whole(path); err == nil {
			err = im.run(ctx, path, read(bytes.NewReader(text)), nil)
		}
	} else {
		err = im.open(ctx, path, read)
	}
	if len(im.results) > before {
		if format == "" && file.found && im.results[before].Read+im.results[before].Skipped == 0 {
			im.results = im.results[:before] // a file of another kind, which nobody named
			return err
		}
		im.results[before].Format, im.results[before].LeftOut = format, leftOut
	}
	return err
}

// agentEvents yields the events of a file until ctx ends. If the file is one of many, an error that
// ends reading counts as something skipped; that it is not an agent's does not count if it was found
// in a directory.
func agentEvents(ctx context.Context, r io.Reader, o agentlog.Options, many, found bool) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		for e, err := range agentlog.Read(r, o) {
			var skip *agentlog.SkipError
			var end *agentlog.FileError
			switch {
			case errors.As(err, &skip):
				err = &history.SkipError{Line: skip.Line, Reason: skip.Reason}
			case errors.As(err, &end) && end.Unknown && found:
				return
			case errors.As(err, &end) && many:
				err = &history.SkipError{Line: end.Line, Reason: end.Reason}
			}
			if ctx.Err() != nil {
				yield(schemas.Event{}, ctx.Err())
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// DryRun runs an import that appends nothing.
func DryRun(con *connect.Connector, fn func(im *Importer) error) (*Report, error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return nil, err
	}
	r, err := connect.Redactor(cfg)
	if err != nil {
		return nil, err
	}
	im := &Importer{term: con.Terminal, started: time.Now(), redactor: r, backend: nowhere{}, dry: true}
	im.options.Workspace = recording.Cached(recording.Workspace)
	err = fn(im)
	return im.report(), err
}

// nowhere is a backend that discards events. An import without questions needs no other method.
type nowhere struct{ api.Backend }

func (nowhere) Append(_ context.Context, events []schemas.Event) ([]api.Appended, error) {
	return make([]api.Appended, len(events)), nil
}
