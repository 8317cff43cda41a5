package command

import (
	"slices"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Memory caches how the last few thousand command lines were interpreted, because shell histories
// repeat. The cache affects only speed. It is safe for concurrent use; a nil Memory caches nothing.
//
// The result depends on the line and its shell. If the line has relative paths, its resources also
// depend on the directory. Such a line is cached with its resources in each of the last few
// directories, and in split form, so that for a new directory only the resources are computed
// again.
type Memory struct {
	lines *lru.Cache[written, *read]
}

// written is everything that a result depends on, apart from its resources.
type written struct{ command, shell string }

// pathBase is what paths are resolved against.
type pathBase struct{ cwd, user, home string }

// read is a cached result. It is shared by every intent of the same line and must not be modified.
type read struct {
	tokens     []*recountv1.Token
	template   string
	programs   []string
	complexity uint32
	category   recountv1.Category
	confidence float32
	// resources are cached by what paths are resolved against, under the zero value if that does not matter.
	placed    bool
	resources *lru.Cache[pathBase, []*recountv1.Resource]
	// apart is the split line; it is set when the line has run in a second place.
	apart atomic.Pointer[line]
}

const (
	maxLines  = 4096
	maxPlaces = 8
	// maxRemembered keeps a few huge scripts from filling the cache; it is in bytes.
	maxRemembered = 4 << 10
)

// Remember returns an empty cache.
func Remember() *Memory { return &Memory{newLRU[written, *read](maxLines)} }

func newLRU[K comparable, V any](entries int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](entries)
	if err != nil {
		panic(err) // only a number below 1 is refused
	}
	return c
}

// Intent is the function Intent with a cache.
func (m *Memory) Intent(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	return intent(m, e, payload, rec)
}

// Understand interprets a command line from another source than a command.executed event, such as
// an agent's tool call. The intent has the fields that follow from the line and the directory
// alone, including the content hash.
func (m *Memory) Understand(command, cwd string) *recountv1.Intent {
	in := &recountv1.Intent{Command: command, Cwd: cwd, ContentHash: ContentHash(command)}
	m.understand(in, "")
	return in
}

// understand fills in the same fields as the function understand.
func (m *Memory) understand(in *recountv1.Intent, home string) {
	if m == nil || len(in.Command) > maxRemembered {
		understand(in, home)
		return
	}
	k, at := written{in.Command, in.Shell}, pathBase{in.Cwd, in.User, home}
	line, known := m.lines.Get(k)
	if known && !line.placed {
		at = pathBase{}
	}
	if known {
		resources, ok := line.resources.Get(at)
		if !ok {
			resources = line.elsewhere(in, home)
			line.resources.Add(at, resources)
		}
		in.Tokens, in.Template, in.Programs = line.tokens, line.template, line.programs
		in.Complexity, in.Category, in.Confidence = line.complexity, line.category, line.confidence
		in.Resources = resources
		return
	}
	placed := understand(in, home)
	if !placed {
		at = pathBase{}
	}
	line = &read{
		tokens: in.Tokens, template: in.Template, programs: slices.Clip(in.Programs), complexity: in.Complexity,
		category: in.Category, confidence: in.Confidence, placed: placed,
		resources: newLRU[pathBase, []*recountv1.Resource](maxPlaces),
	}
	line.resources.Add(at, in.Resources)
	m.lines.Add(k, line)
}

// elsewhere returns the line's resources for the directory of in.
func (l *read) elsewhere(in *recountv1.Intent, home string) []*recountv1.Resource {
	apart := l.apart.Load()
	if apart == nil {
		apart, _ = takeApart(in)
		l.apart.Store(apart)
	}
	r := reader{line: apart.clone(), where: locate(in.Cwd, in.User, home)}
	r.all()
	return r.resources
}
