package importing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// Origin is whose history is imported, and from which machine; empty fields mean this user and this
// machine.
type Origin struct{ User, Host string }

// Result is the result of importing one source.
type Result struct {
	From     string `json:"from"`
	Read     int64  `json:"read"`
	Appended int64  `json:"appended"`
	Present  int64  `json:"already_there"`
	Redacted int64  `json:"secrets_redacted"`
	Skipped  int64  `json:"skipped"`
	// Before counts lines that an earlier import read and that were not read again.
	Before int64 `json:"lines_before,omitempty"`
	// Held counts the spans or requests in the events; Unit names which.
	Held     int64    `json:"held,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Problems []string `json:"problems,omitempty"`
	// Format is the detected format of an agent's file; LeftOut counts what was left out on
	// purpose.
	Format  string         `json:"format,omitempty"`
	LeftOut map[string]int `json:"left_out,omitempty"`
}

// Importer appends the events that sources yield.
type Importer struct {
	term     *render.Terminal
	dataDir  string
	backend  api.Backend
	options  history.Options
	redactor *redact.Redactor
	redacted int64
	held     int64  // of the current source
	unit     string // what held counts
	results  []Result
	started  time.Time
	dry      bool              // do not append
	last     *schemas.Position // position of the last appended event
	// known holds the entries of the current history that are on the log under other ids.
	known map[schemas.EventID]bool
	// blind reports that the server answers no questions, so that entries recorded under other ids
	// cannot be recognised.
	blind bool
}

// Report is what an import brought in.
type Report struct {
	ElapsedMS int64    `json:"elapsed_ms"`
	Imports   []Result `json:"imports"`
	// DryRun reports that nothing was appended.
	DryRun bool `json:"-"`
}

// Unusable reports that a source had entries, but none that could be imported.
func (r Result) Unusable() bool { return r.Read == 0 && r.Skipped > 0 }

// report returns the results so far.
func (im *Importer) report() *Report {
	return &Report{Imports: im.results, ElapsedMS: time.Since(im.started).Milliseconds(), DryRun: im.dry}
}

// Run opens a backend and imports by fn. The report is nil if the import did not begin.
func Run(ctx context.Context, con *connect.Connector, from Origin, fn func(im *Importer) error) (done *Report, err error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return nil, err
	}
	r, err := connect.Redactor(cfg)
	if err != nil {
		return nil, err
	}
	im := &Importer{term: con.Terminal, dataDir: cfg.DataDir, started: time.Now(), redactor: r}
	im.options = history.Options{
		User: from.User, Host: from.Host, Time: im.started, Workspace: recording.Cached(recording.Workspace),
		Redact: func(p *recountv1.CommandExecuted) { im.redacted += int64(len(r.Event(p))) },
	}
	if from.User == "" {
		im.options.User = recording.UserName(con.Getenv)
	}
	if from.Host == "" {
		im.options.Host = recording.HostName()
	}
	b, err := con.Open(ctx, cfg, connect.DefaultWait)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	im.backend = b
	// The projections know what was imported before, so wait until they have caught up.
	stop := con.UnlessSoon(func() string { return "waiting for imported data to become visible" })
	err = connect.Settle(ctx, b)
	stop()
	switch {
	case errors.Is(err, connect.ErrServesNot):
		im.blind = true
		fmt.Fprintln(con.Err, "recount: the server does not have the role serve and cannot look up recorded commands: an event that is appended again is applied once, but commands recorded by a hook are not recognised in a history")
	case err != nil:
		return nil, err
	}
	err = fn(im)
	return im.report(), err
}

// Bytes imports the events of a text in memory through a backend, and prints nothing.
func Bytes(ctx context.Context, b api.Backend, from string, text []byte, read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) (Result, error) {
	now := time.Now()
	im := &Importer{term: &render.Terminal{Err: io.Discard, Silence: time.Hour}, backend: b, started: now, options: history.Options{Time: now}}
	err := im.run(ctx, from, read(bytes.NewReader(text), im.options), nil)
	return im.results[0], err
}
