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

// Options supply what a file does not contain, and select what is read.
type Options struct {
	// Format is the name of one of Formats; "" or "auto" detects it from the content.
	Format string
	// Name is the session of a run whose file does not name it.
	Name string
	// Time is used for events in a file without times.
	Time time.Time
	// Tenant is the tenant of the events. Workspace, Agent and Session, if set, override the values
	// in the file.
	Tenant, Workspace, Agent, Session string
	Visibility                        recountv1.Visibility
	// Cwd is the directory of a run whose file does not name it.
	Cwd string
	// Commands also makes a command.executed event for each shell command and each change of a
	// file, which counts as the command edit PATH, create PATH or rm PATH.
	Commands bool
	// Growing means that the agent is still writing the file: what would change with its next lines
	// is left for a later call.
	Growing bool
	// Redact removes secrets from a payload. Nil leaves payloads unchanged.
	Redact func(proto.Message)
	// WorkspaceOf returns the workspace of a directory, "" if there is none. If nil, each directory
	// is its own workspace.
	WorkspaceOf func(cwd string) string
	// MemoryOf returns the workspace that what agents say belongs to, of a directory that may be a linked working tree;
	// "" or nil is the directory itself. Commands keep that of WorkspaceOf.
	MemoryOf func(dir string) string
	// LeftOut is called with a name for what is skipped on purpose, such as "system prompt". It may
	// be nil.
	LeftOut func(what string)
	// Began is called for each session, and Found with the format. Both may be nil.
	Began func(session string)
	Found func(format string)
}

// SkipError reports why a part of a file was skipped; later parts are still read.
type SkipError struct {
	// Line is the line at which the part begins, from 1.
	Line   int
	Reason string
}

func (e *SkipError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// FileError reports why the rest of a file cannot be read.
type FileError struct {
	// Line is the line of the error, from 1.
	Line   int
	Reason string
	// Unknown means that it is not a file of an agent, as far as can be seen.
	Unknown bool
}

func (e *FileError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Format is one kind of file.
type Format struct {
	// Name is the value of --format that selects it.
	Name string
	// Files says which agent writes it, and where its files are.
	Files string
	// is reports whether the first value of a file looks like this format.
	is func(p probe) bool
	// silent means that a result does not say whether its call failed.
	silent bool
	// read makes the events of one value; f is the same for the whole file.
	read func(f *file, v value) error
}

// Formats are the formats that can be read, in the order in which they are tried: one file each, and
// a line here.
var Formats = []Format{
	trajFormat, openHandsV1Format, openHandsFormat, claudeCodeFormat, claudeStreamFormat, codexFormat, codexExecFormat,
	geminiFormat, openCodeFormat, miniFormat, anthropicFormat, openAIFormat, genericFormat,
}

// Names returns the names of the formats.
func Names() []string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// maxUntold limits how many values are read before one of them identifies the format.
const maxUntold = 32

// Read yields the events of a file, which may be compressed by gzip or zstd.
func Read(r io.Reader, o Options) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		plain, err := spans.Decompress(r)
		if err != nil {
			yield(schemas.Event{}, err)
			return
		}
		f := &file{o: o, yield: yield, runs: map[string]*run{}, heads: map[string]eventID{}, sessions: map[string]bool{}, openhands: map[string]*openHandsState{}}
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
	return &FileError{Line: v.line, Unknown: true, Reason: fmt.Sprintf("unknown format: this is %s. Accepted are sessions of %s; if it is one of them, give --format", look(v.raw), Accepted())}
}

// file is the state of reading one file.
type file struct {
	o      Options
	format *Format
	yield  func(schemas.Event, error) bool
	done   bool
	line   int // of the current value
	runs   map[string]*run
	order  []*run
	// heads maps uuids of Claude Code's lines to their last events; sessions are those that generic
	// events have named.
	heads    map[string]eventID
	titles   []fields // summaries that are not yet events
	sessions map[string]bool
	// These are the states of formats whose lines depend on each other.
	codex      codexState
	gemini     geminiState
	openhands  map[string]*openHandsState
	sessionsV1 []string
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

// end makes the events that are only known at the end of a file.
func (f *file) end() {
	if !f.o.Growing {
		f.summaries()
		f.codexEnd()
	}
	f.geminiEnd()
	f.openHandsEnd()
	for _, r := range f.order {
		if f.o.Growing {
			break // a command without a result may still have one
		}
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
