package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/internal/terminalsearch"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/state"
)

// Search returns the verb search. It is not one of recount-local, so that this does not link its
// interface.
func Search(a *asker) *cobra.Command { return verbs.Search(a.Terminal, a, a.getenv) }

// Asker implements verbs.Searcher. A server elsewhere is the engine's to ask, and so is everything
// without a server if there is no interface that waits for it.
func (a *asker) Asker(quiet bool) (terminalsearch.Asker, func(), error) {
	dir, err := a.directory()
	if err != nil {
		return nil, nil, err
	}
	s := &searching{asker: a, dir: dir, leave: !quiet}
	return s, s.close, nil
}

// lookAgain is how long the answer to whether there is a server holds while there is none.
const lookAgain = time.Second

// searching asks the server of a data directory for as long as a search lasts, and the engine while
// there is none.
type searching struct {
	*asker
	dir string
	// leave has the engine take over where there is no server.
	leave bool

	mu sync.Mutex // guards all below
	// server is the server that is asked, nil if there is none.
	server *client
	looked time.Time
	// drained reports that what shells had recorded before was waited for.
	drained bool
	engine  *engineProcess
}

// Search implements terminalsearch.Asker.
func (s *searching) Search(ctx context.Context, r ask.SearchRequest) (ask.SearchResponse, error) {
	s.drain(ctx)
	var resp ask.SearchResponse
	away, err := s.askServer(ctx, "/v1/search", r, &resp)
	if !errors.Is(err, errEngine) {
		return resp, away(err)
	}
	a, err := s.askEngine(ctx, verbs.Asked{Search: &r})
	if err != nil {
		return resp, err
	}
	return *a.Search, nil
}

// Around implements terminalsearch.Asker.
func (s *searching) Around(ctx context.Context, r ask.AroundRequest) (ask.AroundResponse, error) {
	var resp ask.AroundResponse
	away, err := s.askServer(ctx, "/v1/around", r, &resp)
	if !errors.Is(err, errEngine) {
		return resp, away(err)
	}
	a, err := s.askEngine(ctx, verbs.Asked{Around: &r})
	if err != nil {
		return resp, err
	}
	return *a.Around, nil
}

// Verb implements terminalsearch.Asker.
func (s *searching) Verb(ctx context.Context, args ...string) (string, error) {
	path, err := installed.EnginePath()
	if err != nil {
		return "", err
	}
	return verbs.VerbOutput(ctx, path, append(verbs.GlobalFlags(s.dataDir, s.config, ""), args...)...)
}

// askServer asks the server. The error is errEngine if there is none; away turns any other error
// into the one that the interface gets.
func (s *searching) askServer(ctx context.Context, path string, request, response any) (away func(error) error, err error) {
	away = func(err error) error { return err }
	c := s.find(ctx)
	if c == nil {
		return away, errEngine
	}
	err = c.call(ctx, http.MethodPost, path, request, response)
	var broken *url.Error
	if errors.As(err, &broken) && ctx.Err() == nil {
		s.mu.Lock()
		if s.server == c {
			s.server, s.looked = nil, time.Time{}
		}
		s.mu.Unlock()
		away = func(error) error { return terminalsearch.ErrAway }
	}
	return away, err
}

// find returns the client of the server, nil if there is none.
func (s *searching) find(ctx context.Context) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil || time.Since(s.looked) < lookAgain {
		return s.server
	}
	e, running, err := datadir.Running(s.dir)
	if err == nil && running && e.HTTP != "" {
		soon, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c, _, err := connect(soon, e, s.getenv)
		if err == nil {
			s.server = c
		}
		if ctx.Err() != nil {
			return nil // it was not asked long enough
		}
	}
	s.looked = time.Now()
	if s.server != nil {
		s.engine.close()
		s.engine = nil
	}
	return s.server
}

// drain waits, once, for the server to take in what shells have recorded.
func (s *searching) drain(ctx context.Context) {
	s.mu.Lock()
	drained := s.drained
	s.drained = true
	s.mu.Unlock()
	for until := time.Now().Add(drainPatience); !drained && !spool.Empty(spool.Dir(s.dir)) && time.Now().Before(until) && ctx.Err() == nil; {
		if s.find(ctx) == nil {
			return // the engine takes it in when it starts
		}
		time.Sleep(time.Millisecond)
	}
}

// askEngine asks the engine, which is started for the first question.
func (s *searching) askEngine(ctx context.Context, q verbs.Asked) (verbs.Answered, error) {
	if s.leave {
		return verbs.Answered{}, errEngine
	}
	s.mu.Lock()
	if s.engine == nil || s.engine.ended() {
		path, err := installed.EnginePath()
		if err == nil {
			s.engine, err = startEngine(path, append(verbs.GlobalFlags(s.dataDir, s.config, ""), "answer"))
		}
		if err != nil {
			s.mu.Unlock()
			return verbs.Answered{}, err
		}
	}
	e := s.engine
	s.mu.Unlock()
	a, err := e.ask(ctx, q)
	switch {
	case err != nil:
		return a, err
	case a.Error != "":
		return a, errors.New(a.Error)
	case (a.Search == nil) != (q.Search == nil) || (a.Around == nil) != (q.Around == nil):
		return a, fmt.Errorf("the engine answered something else")
	}
	return a, nil
}

func (s *searching) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine.close()
}

// connect returns the client of a server that is the one of the data directory, and how that stands:
// after a crash, endpoints.json may name an address that another program uses by now.
func connect(ctx context.Context, e datadir.Endpoints, getenv func(string) string) (c *client, st state.Status, err error) {
	token, err := e.Token(getenv)
	if err != nil {
		return nil, st, err
	}
	c = &client{base: strings.TrimSuffix(e.HTTP, "/"), token: token, http: &http.Client{
		Transport:     &http.Transport{}, // without a proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if st, err = c.status(ctx); err != nil {
		return nil, st, err
	}
	if st.DataID != e.DataID {
		return nil, st, errors.New("another server")
	}
	return c, st, nil
}

// status asks how the server stands.
func (c *client) status(ctx context.Context) (st state.Status, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/status", nil, &st)
	return st, err
}
