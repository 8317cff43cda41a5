package front

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/datadir"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/state"
)

const (
	// patience is how long the server may take to identify itself before the engine takes over,
	// which waits for longer and says so.
	patience = 3 * time.Second
	// drainPatience is how long it may take to take in what was spooled.
	drainPatience = 100 * time.Millisecond
)

// Open returns what answers a verb's questions about the data directory dir. An error means that
// another program is to do the verb: recount-local if it wraps errLocal, else the engine.
type Open func(ctx context.Context, dir string) (Opened, error)

// Opened answers the questions of a verb until it is closed.
type Opened interface {
	verbs.Answers
	Close() error
}

// asker answers the verbs.
type asker struct {
	*render.Terminal
	getenv func(string) string
	open   Open
	// dataDir, config and server are the global flags.
	dataDir, config, server string
}

// Follow leaves following to the engine.
func (a *asker) Follow(context.Context, verbs.Followed) error { return errEngine }

// Find asks for commands.
func (a *asker) Find(ctx context.Context, r ask.FindRequest) (resp ask.FindResponse, err error) {
	err = a.answer(ctx, "find", r, &resp)
	return resp, err
}

// Stats asks for statistics.
func (a *asker) Stats(ctx context.Context, r ask.StatisticsRequest) (resp ask.StatisticsResponse, err error) {
	err = a.answer(ctx, "stats", r, &resp)
	return resp, err
}

// directory returns the data directory. A server elsewhere is the engine's to ask.
func (a *asker) directory() (string, error) {
	if a.server != "" || a.getenv("RECOUNT_SERVER") != "" {
		return "", fmt.Errorf("a server elsewhere: %w", errEngine)
	}
	return recording.Directory(a.dataDir, a.config, a.getenv)
}

// answer asks the only question of a verb.
func (a *asker) answer(ctx context.Context, path string, request, response any) error {
	by, err := a.opened(ctx)
	if err != nil {
		return err
	}
	return errors.Join(by.Answer(ctx, path, request, response), by.Close())
}

// opened returns what answers. Without a server, only the engine knows what a config file asks for.
func (a *asker) opened(ctx context.Context) (Opened, error) {
	dir, err := a.directory()
	if err != nil {
		return nil, err
	}
	by, err := a.open(ctx, dir)
	if errors.Is(err, errLocal) && recording.ConfigFile(a.config, a.getenv) != "" {
		return nil, fmt.Errorf("a config file: %w", errEngine)
	}
	return by, err
}

// OpenServer returns an Open of the server that runs on the data directory.
func OpenServer(t *render.Terminal, getenv func(string) string) Open {
	return func(ctx context.Context, dir string) (Opened, error) {
		s, st, err := serverOf(ctx, t, dir, getenv)
		if err == nil {
			err = s.awaitVisible(ctx, st)
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// server is the server of a data directory. It implements Opened.
type server struct {
	*client
	t *render.Terminal
}

// serverOf returns the server that runs on a data directory, once it has taken in what was spooled, and
// how it stood when it was found. The error wraps errLocal if there is none.
func serverOf(ctx context.Context, t *render.Terminal, dir string, getenv func(string) string) (s server, st state.Status, err error) {
	e, running, err := datadir.Running(dir)
	switch {
	case err != nil:
		return s, st, err
	case !running:
		return s, st, errLocal
	case e.HTTP == "":
		return s, st, fmt.Errorf("no server: %w", errEngine)
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, st, err := connect(soon, e, getenv)
	if err != nil {
		return s, st, fmt.Errorf("another server: %w", errEngine)
	}
	for until := time.Now().Add(drainPatience); !spool.Empty(spool.Dir(dir)); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return s, st, fmt.Errorf("commands in the spool: %w", errEngine)
		}
	}
	return server{c, t}, st, nil
}

// awaitVisible waits until answers have all commands that were on the log when the server stood as st
// says. It answers from its start on, also while its projections still catch up with the log; if that
// takes long, the engine waits, and says so.
func (s server) awaitVisible(ctx context.Context, st state.Status) (err error) {
	until := time.Now().Add(drainPatience)
	for ends := st.Log.Ends; st.Unseen(ends); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return fmt.Errorf("the server catches up with the log: %w", errEngine)
		}
		if st, err = s.status(ctx); err != nil {
			return fmt.Errorf("%w: %w", err, errEngine)
		}
	}
	return nil
}

// Answer asks the question of a path.
func (s server) Answer(ctx context.Context, path string, request, response any) error {
	defer s.t.UnlessSoon(func() string { return "waiting for the answer of the server" })()
	return s.call(ctx, http.MethodPost, "/v1/"+path, request, response)
}

// Show asks for a command.
func (s server) Show(ctx context.Context, ref string) (r ask.ShowResponse, err error) {
	defer s.t.UnlessSoon(func() string { return "waiting for the answer of the server" })()
	if ref == "" {
		return r, errEngine
	}
	err = s.call(ctx, http.MethodGet, "/v1/intents/"+url.PathEscape(ref), nil, &r)
	return r, err
}

// Close implements Opened.
func (s server) Close() error {
	s.http.CloseIdleConnections()
	return nil
}

// client calls a server.
type client struct {
	base, token string
	http        *http.Client
}

// call sends a request, in JSON if it has a body, and decodes the answer.
func (c client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var problem struct {
			Detail string `json:"detail"`
		}
		_ = json.NewDecoder(resp.Body).Decode(&problem) // the status says enough
		return fmt.Errorf("%s: %s", resp.Status, cmp.Or(problem.Detail, path))
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body) // to the end, so that the connection is used again
	return err
}

var (
	_ verbs.Finder       = (*asker)(nil)
	_ verbs.Statistician = (*asker)(nil)
)
