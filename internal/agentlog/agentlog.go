package agentlog

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Options say what a file does not, and what is wanted of it.
type Options struct {
	// Format is the name of one of Formats; "" or "auto" tells it by what the file holds.
	Format string
	// Name is what the run is called where the file does not say: its session.
	Name string
	// Time is for events whose file holds no times.
	Time time.Time
	// Tenant is whose data it is. Workspace, Agent and Session, where set, take the
	// place of what the file says.
	Tenant, Workspace, Agent, Session string
	Visibility                        recountv1.Visibility
	// Commands makes a command.executed of each shell command as well.
	Commands bool
	// Redact takes secrets out of a payload. Nil leaves payloads as they are.
	Redact func(proto.Message)
	// WorkspaceOf finds the workspace of a directory, "" where there is none. Nil: a
	// directory is its own.
	WorkspaceOf func(cwd string) string
	// LeftOut is told what is left out on purpose, such as "system prompt". Nil is fine.
	LeftOut func(what string)
	// Began is told of each session, and Found of the format. Nil is fine.
	Began func(session string)
	Found func(format string)
}

// SkipError says why a part of a file was left out; what comes after it was not.
type SkipError struct {
	// Line is where it begins, from 1.
	Line   int
	Reason string
}

func (e *SkipError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// FileError says why nothing more of a file can be read.
type FileError struct {
	// Line is where that is, from 1.
	Line   int
	Reason string
}

func (e *FileError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Format is one kind of file.
type Format struct {
	// Name is what --format calls it.
	Name string
	// is says whether the first value of a file looks like it.
	is func(p probe) bool
	// read makes the events of one value; f lives as long as the file.
	read func(f *file, v value) error
}

// Formats are those that can be read, in the order in which they are tried.
var Formats = []Format{
	{"traj", isTraj, readTraj},
	{"openhands", isOpenHands, readOpenHands},
	{"claude-code", isClaudeCode, readClaudeCode},
	{"anthropic", isAnthropic, readAnthropic},
	{"openai", isOpenAI, readOpenAI},
	{"jsonl", isGeneric, readGeneric},
}

// Names are the names of the formats.
func Names() []string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// maxUntold is how many values may pass before one of them tells the format.
const maxUntold = 32

// Read yields the events of a file, which may be compressed by gzip or zstd.
func Read(r io.Reader, o Options) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		plain, err := spans.Decompress(r)
		if err != nil {
			yield(schemas.Event{}, err)
			return
		}
		f := &file{o: o, yield: yield, runs: map[string]*run{}, heads: map[string]eventID{}, sessions: map[string]bool{}}
		if o.Format != "" && o.Format != "auto" && !f.use(o.Format) {
			yield(schemas.Event{}, fmt.Errorf("format %q: want one of %s", o.Format, strings.Join(Names(), ", ")))
			return
		}
		var untold []value
		for v, err := range values(plain) {
			var skip *SkipError
			switch {
			case errors.As(err, &skip):
				f.skip(skip.Line, skip.Reason)
			case err != nil:
				f.fail(err)
			case f.format == nil && !f.detect(v):
				if untold = append(untold, v); len(untold) == maxUntold {
					f.fail(errUntold(untold[0]))
				}
			default:
				for _, v := range append(untold, v) {
					f.value(v)
				}
				untold = nil
			}
			if f.done {
				return
			}
		}
		if len(untold) > 0 {
			f.fail(errUntold(untold[0]))
			return
		}
		f.end()
	}
}

func errUntold(v value) error {
	return &FileError{v.line, fmt.Sprintf("no telling what this is: it looks like none of %s; if it is one of them, say so with --format", strings.Join(Names(), ", "))}
}

// file is a file that is being read.
type file struct {
	o      Options
	format *Format
	yield  func(schemas.Event, error) bool
	done   bool
	line   int // of the value that is being read
	runs   map[string]*run
	order  []*run
	// heads are the last events of the lines of Claude Code by their uuids; sessions are
	// those that events one a line named.
	heads    map[string]eventID
	titles   []fields // summaries that are still to be made events
	sessions map[string]bool
}

func (f *file) use(name string) bool {
	i := slices.IndexFunc(Formats, func(x Format) bool { return x.Name == name })
	if i < 0 {
		return false
	}
	f.format = &Formats[i]
	if f.o.Found != nil {
		f.o.Found(name)
	}
	return true
}

func (f *file) detect(v value) bool {
	p := newProbe(v.raw)
	for _, x := range Formats {
		if x.is(p) {
			return f.use(x.Name)
		}
	}
	return false
}

func (f *file) value(v value) {
	if f.done {
		return
	}
	f.line = v.line
	if err := f.format.read(f, v); err != nil {
		f.skip(v.line, err.Error())
	}
}

// end gives what only the end of a file tells.
func (f *file) end() {
	f.summaries()
	for _, r := range f.order {
		r.end()
	}
}

func (f *file) emit(e schemas.Event) {
	if !f.done {
		f.done = !f.yield(e, nil)
	}
}

func (f *file) skip(line int, reason string) {
	if !f.done {
		f.done = !f.yield(schemas.Event{}, &SkipError{line, reason})
	}
}

func (f *file) fail(err error) {
	if !f.done {
		f.yield(schemas.Event{}, err)
		f.done = true
	}
}

func (f *file) leftOut(what string) {
	if f.o.LeftOut != nil {
		f.o.LeftOut(what)
	}
}
