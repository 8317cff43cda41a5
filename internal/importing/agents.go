package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/agentlog"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// AgentFiles returns the files that the arguments name; the files of a directory are sorted.
func AgentFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			files = append(files, arg)
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(files)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains([]string{".traj", ".json", ".jsonl"}, filepath.Ext(path)) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: no file in it ends in .traj, .json or .jsonl", arg)
		}
	}
	return files, nil
}

// Agents imports what files say that agents said and did.
func (im *Importer) Agents(ctx context.Context, files []string, o agentlog.Options) error {
	im.unit = "session"
	for _, file := range files {
		if err := im.agentFile(ctx, file, o, len(files) > 1); err != nil {
			return err
		}
	}
	return nil
}

// agentFile imports one file. If it is one of many, an error in it does not stop the import of the
// others.
func (im *Importer) agentFile(ctx context.Context, path string, o agentlog.Options, many bool) error {
	leftOut := map[string]int{}
	format := ""
	o.LeftOut = func(what string) { leftOut[what]++ }
	o.Found = func(f string) { format = f }
	o.Began = func(string) { im.held++ }
	o.WorkspaceOf = im.options.Workspace
	o.Redact = func(m proto.Message) { im.redacted += int64(len(im.redactor.Event(m))) }
	o.Time = im.started
	o.Name, _, _ = strings.Cut(filepath.Base(path), ".")
	if path == "-" {
		o.Name = "stdin"
	}
	if info, err := os.Stat(path); path != "-" && err == nil {
		o.Time = info.ModTime()
	}
	before := len(im.results)
	err := im.open(ctx, path, func(r io.Reader) iter.Seq2[schemas.Event, error] { return agentEvents(ctx, r, o, many) })
	if len(im.results) > before {
		im.results[before].Format, im.results[before].LeftOut = format, leftOut
	}
	return err
}

// agentEvents yields the events of a file until ctx ends. If the file is one of many, an error that
// ends reading counts as something skipped.
func agentEvents(ctx context.Context, r io.Reader, o agentlog.Options, many bool) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		for e, err := range agentlog.Read(r, o) {
			var skip *agentlog.SkipError
			var end *agentlog.FileError
			switch {
			case errors.As(err, &skip):
				err = &history.SkipError{Line: skip.Line, Reason: skip.Reason}
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
	im.options.Workspace = recording.Workspaces()
	err = fn(im)
	return im.report(), err
}

// nowhere is a backend that discards events. An import without questions needs no other method.
type nowhere struct{ api.Backend }

func (nowhere) Append(_ context.Context, events []schemas.Event) ([]api.Appended, error) {
	return make([]api.Appended, len(events)), nil
}
