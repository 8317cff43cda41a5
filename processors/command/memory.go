package command

import (
	"slices"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/recent"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Memory remembers how the last few thousand command lines were understood,
// because a shell history repeats itself. Remembering shows in speed alone. Safe
// for concurrent use; a nil Memory remembers nothing.
//
// What is understood depends on the line and its shell, and where the line has
// paths that are not absolute, its resources also on where it ran: so such a line
// is remembered with the resources it had in each of the last few places, and taken
// apart, so that in another place only they are read again.
type Memory struct {
	lines *recent.Map[written, *read]
}

// written is all that a reading depends on but for its resources.
type written struct{ command, shell string }

// place is what paths are resolved by.
type place struct{ cwd, user string }

// read is shared by every intent of the same line, and so never written to.
type read struct {
	tokens     []*recountv1.Token
	template   string
	programs   []string
	complexity uint32
	category   recountv1.Category
	confidence float32
	// resources are by place, under the zero one where that does not matter.
	placed    bool
	resources *recent.Map[place, []*recountv1.Resource]
	// apart is the line taken apart, of one that has run in a second place.
	apart atomic.Pointer[line]
}

const (
	maxLines  = 4096
	maxPlaces = 8
	// maxRemembered keeps a few huge scripts from filling the memory.
	maxRemembered = 4 << 10
)

// Remember makes an empty memory.
func Remember() *Memory { return &Memory{recent.New[written, *read](maxLines)} }

// Intent is the function Intent with a memory.
func (m *Memory) Intent(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	return intent(m, e, payload, rec)
}

// Understand reads a command line that stands elsewhere than in a command.executed event,
// such as an agent's tool call: the intent has what follows from the line and the directory
// alone, its content hash among it.
func (m *Memory) Understand(command, cwd string) *recountv1.Intent {
	in := &recountv1.Intent{Command: command, Cwd: cwd, ContentHash: ContentHash(command)}
	m.understand(in)
	return in
}

// understand fills in what understand does.
func (m *Memory) understand(in *recountv1.Intent) {
	if m == nil || len(in.Command) > maxRemembered {
		understand(in)
		return
	}
	k, at := written{in.Command, in.Shell}, place{in.Cwd, in.User}
	line, known := m.lines.Get(k)
	if known && !line.placed {
		at = place{}
	}
	if known {
		resources, ok := line.resources.Get(at)
		if !ok {
			resources = line.elsewhere(in)
			line.resources.Add(at, resources)
		}
		in.Tokens, in.Template, in.Programs = line.tokens, line.template, line.programs
		in.Complexity, in.Category, in.Confidence = line.complexity, line.category, line.confidence
		in.Resources = resources
		return
	}
	placed := understand(in)
	if !placed {
		at = place{}
	}
	line = &read{
		tokens: in.Tokens, template: in.Template, programs: slices.Clip(in.Programs), complexity: in.Complexity,
		category: in.Category, confidence: in.Confidence, placed: placed,
		resources: recent.New[place, []*recountv1.Resource](maxPlaces),
	}
	line.resources.Add(at, in.Resources)
	m.lines.Add(k, line)
}

// elsewhere is the resources of the line where in ran.
func (l *read) elsewhere(in *recountv1.Intent) []*recountv1.Resource {
	apart := l.apart.Load()
	if apart == nil {
		apart, _ = takeApart(in)
		l.apart.Store(apart)
	}
	r := reader{line: apart.clone(), where: locate(in.Cwd, in.User)}
	r.all()
	return r.resources
}
