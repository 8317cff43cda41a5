package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/query/wire"
	"github.com/recountdb/recount/server/api"
)

// call is one call of a tool.
type call struct {
	server  *Server
	request *sdk.CallToolRequest
	session *session
	// writes tells that the tool may append.
	writes bool
	// atHead tells that a question about code named no revision.
	atHead bool

	backend api.Backend
	done    func()
}

// ask returns the backend, as far as the principal may ask it.
func (c *call) ask(ctx context.Context) (gated, error) {
	if c.backend == nil {
		b, release, err := c.server.o.Open(ctx, c.writes)
		if err != nil {
			return gated{}, err
		}
		c.backend, c.done = b, release
	}
	return gated{c.backend}, nil
}

// release gives the backend back.
func (c *call) release() {
	if c.done != nil {
		c.done()
		c.backend, c.done = nil, nil
	}
}

// progress tells the client how far a call is, if it wants to know.
func (c *call) progress(ctx context.Context, p api.Progress) {
	token := c.request.Params.GetProgressToken()
	if token == nil {
		return
	}
	// A client that has gone away needs no progress.
	_ = c.request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: token, Message: p.Phase, Progress: float64(p.Done), Total: float64(p.Total),
	})
}

// place returns where the client works.
func (c *call) place(ctx context.Context) Place {
	s := c.server
	dirs := c.dirs(ctx)
	if len(dirs) == 0 {
		return Place{}
	}
	if s.o.Locate == nil {
		return Place{Repo: path.Base(filepath.ToSlash(dirs[0]))}
	}
	for _, dir := range dirs {
		if p := s.places.locate(ctx, s.o.Locate, dir); p.Repo != "" {
			return p
		}
	}
	return s.places.locate(ctx, s.o.Locate, dirs[0])
}

// dirs returns the client's directories: its roots, else the one that the server was started in.
func (c *call) dirs(ctx context.Context) []string {
	if roots := c.session.rootsOf(ctx, c.request); len(roots) > 0 {
		return roots
	}
	if c.server.o.Dir != "" {
		return []string{c.server.o.Dir}
	}
	return nil
}

// session is what is remembered of a client between its calls.
type session struct {
	mu    sync.Mutex // guards all below
	asked bool
	roots []string

	written int
	codecs  *wire.Session

	// name is the session of what a client on standard input and output writes: its connection. Two windows of one agent
	// are two sessions.
	name string
}

// writer returns the session that a call writes in: that over HTTP, or the connection; "" for a request of its own.
func (c *call) writer() string {
	if id := c.request.Session.ID(); id != "" || c.request.Extra != nil && c.request.Extra.Header != nil {
		return id
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.name == "" {
		c.session.name = "mcp-" + strings.ToLower(rand.Text()[:8])
	}
	return c.session.name
}

// renewAfter is after how many answers a session defines its symbols again: by then a client may
// have dropped the earlier ones from its context.
const renewAfter = 16

// codec returns what writes the next answer.
func (s *session) codec() *wire.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written%renewAfter == 0 {
		s.codecs = wire.NewSession()
	}
	s.written++
	return s.codecs
}

// rootsOf asks the client for its roots, once. Clients of the stateless protocol have none.
func (s *session) rootsOf(ctx context.Context, r *sdk.CallToolRequest) []string {
	s.mu.Lock()
	asked, roots := s.asked, s.roots
	s.mu.Unlock()
	if asked {
		return roots
	}
	// The lock is not held while the client answers: it may say meanwhile that its roots changed.
	roots = askRoots(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.roots = true, roots // a client that does not answer is not asked before each call
	return roots
}

func askRoots(ctx context.Context, r *sdk.CallToolRequest) (dirs []string) {
	init := r.Session.InitializeParams()
	//lint:ignore SA1019 clients of the versions before 2026-07-28 name their directories by roots
	if init == nil || init.Capabilities == nil || init.Capabilities.RootsV2 == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rootsPatience)
	defer cancel()
	//lint:ignore SA1019 clients of the versions before 2026-07-28 name their directories by roots
	all, err := r.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil
	}
	for _, root := range all.Roots {
		if u, err := url.Parse(root.URI); err == nil && u.Scheme == "file" && strings.HasPrefix(u.Path, "/") {
			dirs = append(dirs, filepath.Clean(filepath.FromSlash(u.Path)))
		}
	}
	return dirs
}

// maxSessions is the maximum number of clients that are remembered; the oldest are forgotten, and
// asked again for their roots.
const maxSessions = 1024

// sessions remembers clients by the names of their sessions.
type sessions struct {
	mu    sync.Mutex // guards all below
	all   map[string]*session
	order []string
}

func newSessions() *sessions { return &sessions{all: map[string]*session{}} }

// get returns the session of a request. One without an id over HTTP is of that request alone.
func (s *sessions) get(r *sdk.CallToolRequest) *session {
	if r.Session.ID() == "" && r.Extra != nil && r.Extra.Header != nil {
		return &session{}
	}
	id := sessionName(r.Session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.all[id]; found != nil {
		return found
	}
	if len(s.order) == maxSessions {
		delete(s.all, s.order[0])
		s.order = s.order[1:]
	}
	made := &session{}
	s.all[id], s.order = made, append(s.order, id)
	return made
}

// sessionName returns the id of a session over HTTP. One over a stream has none: it is named by its address,
// which is its own until end is called.
func sessionName(of *sdk.ServerSession) string { return cmp.Or(of.ID(), fmt.Sprintf("%p", of)) }

// end forgets a session over a stream. Another one may get its address afterwards, and its client
// has not seen what was sent to this one.
func (s *sessions) end(of *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := sessionName(of)
	delete(s.all, name)
	s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == name })
}

// forgetRoots asks the client of a session for its roots again.
func (s *sessions) forgetRoots(of *sdk.ServerSession) {
	s.mu.Lock()
	found := s.all[sessionName(of)]
	s.mu.Unlock()
	if found != nil {
		found.mu.Lock()
		found.asked, found.roots = false, nil
		found.mu.Unlock()
	}
}
