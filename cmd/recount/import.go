package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/spans"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// importFlags are the flags that all importers share.
type importFlags struct{ origin }

func (f *importFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.user, "user", "", "whose history it is (default you)")
	c.Flags().StringVar(&f.host, "host", "", "the machine it is from (default this one)")
}

func (a *app) importCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "Bring in what was there before",
		Long: `Bring in what was there before: the histories of shells, Atuin's database, the
commits of git repositories, spans, access logs, what agents said and did, or events
one a line. Importing again is safe at any time: what is there already is not
appended again, so an interrupted import is resumed by starting it again, and a
history that has grown adds only what is new. Secrets are redacted on the way.`,
		Example: `  recount import history                     every shell history found
  recount import history ~/old/.zsh_history
  recount import atuin
  recount import git ~/src/shop
  recount import otlp traces.json            what services told
  recount import access-log access.log --service shop
  recount import agents ~/.claude/projects   sessions, trajectories, transcripts
  recount import jsonl events.jsonl          or - for the standard input`,
	}
	var wait bool
	c.PersistentFlags().BoolVar(&wait, "wait", a.Interactive, "wait until what was brought in can be asked about; the default on a terminal")
	c.PersistentPostRunE = func(cmd *cobra.Command, _ []string) error {
		if !wait {
			return nil
		}
		return a.caughtUp(cmd.Context())
	}
	c.AddCommand(a.importHistoryCmd(), a.importAtuinCmd(), a.importGitCmd(), a.importOTLPCmd(), a.importAccessLogCmd(), a.importAgentsCmd(), a.importJSONLCmd())
	return c
}

func (a *app) importHistoryCmd() *cobra.Command {
	var f importFlags
	var shell string
	c := &cobra.Command{
		Use:   "history [FILE...]",
		Short: "Import histories of bash, zsh or fish",
		Long: `Import histories of bash (with and without times), zsh (plain and extended) or
fish. Without a FILE: those in their usual places, and $HISTFILE.

An entry without a time gets that of the entry before it; where there is none its
time is unknown, and it counts as the oldest. What a hook or an earlier import recorded
is recognised. Files may be compressed by gzip, bzip2 or zstd.`,
		Example: `  recount import history
  recount import history --shell bash --host oldbox --user me backup/history.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if shell != "" && !slices.ContainsFunc(history.Formats, func(x history.Format) bool { return x.Name == shell }) {
				return usagef("--shell %q: want bash, zsh or fish", shell)
			}
			if len(args) == 0 {
				if args = histories(a.getenv); len(args) == 0 {
					return errors.New("no shell history found in the usual places: name the file")
				}
			}
			return a.imports(cmd.Context(), f, func(im *importer) error {
				for _, file := range args {
					if err := im.history(cmd.Context(), file, shell); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&shell, "shell", "", "the format: bash, zsh or fish (default told by name and content)")
	return c
}

func (a *app) importAtuinCmd() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:     "atuin [history.db]",
		Short:   "Import Atuin's history",
		Long:    "Import Atuin's history from its database, which is only read and may be in use.\nDeleted entries are left out. Default: ~/.local/share/atuin/history.db.",
		Example: "  recount import atuin",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := atuinPath(a.getenv)
			if len(args) > 0 {
				path = args[0]
			}
			db, err := history.OpenAtuin(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer db.Close()
			return a.imports(cmd.Context(), f, func(im *importer) error { return im.atuin(cmd.Context(), path, db) })
		},
	}
	f.add(c)
	return c
}

func (a *app) importJSONLCmd() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "jsonl FILE",
		Short: "Import events, one JSON object a line",
		Long: `Import events, one JSON object a line: a command.executed payload, or a CloudEvent
in structured mode of any kind. FILE may be - for the standard input.`,
		Example: `  echo '{"command":"make test","cwd":"/src/app","exit_code":2}' | recount import jsonl -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.imports(cmd.Context(), f, func(im *importer) error { return im.jsonl(cmd.Context(), args[0]) })
		},
	}
	f.add(c)
	return c
}

// atuinPath returns where Atuin keeps its database.
func atuinPath(getenv func(string) string) string {
	if path := getenv("ATUIN_DB_PATH"); path != "" {
		return path
	}
	base := getenv("XDG_DATA_HOME")
	if base == "" {
		base = filepath.Join(getenv("HOME"), ".local", "share")
	}
	return filepath.Join(base, "atuin", "history.db")
}

// histories returns the shell histories that exist.
func histories(getenv func(string) string) []string {
	home := getenv("HOME")
	data := getenv("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(home, ".local", "share")
	}
	var found []string
	for _, f := range []string{
		getenv("HISTFILE"), filepath.Join(home, ".bash_history"), filepath.Join(home, ".zsh_history"),
		filepath.Join(home, ".zhistory"), filepath.Join(home, ".histfile"), filepath.Join(data, "fish", "fish_history"),
	} {
		if info, err := os.Stat(f); f != "" && err == nil && info.Mode().IsRegular() && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	return found
}

// origin is whose history is imported, and from which machine; empty fields mean this user and this
// machine.
type origin struct{ user, host string }

// imported is the result of importing one source.
type imported struct {
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

// importer appends the events that sources yield.
type importer struct {
	term     *render.Terminal
	dataDir  string
	backend  api.Backend
	options  history.Options
	redactor *redact.Redactor
	redacted int64
	held     int64  // of the current source
	unit     string // what held counts
	results  []imported
	started  time.Time
	dry      bool              // do not append
	last     *schemas.Position // position of the last appended event
	// known holds the entries of the current history that are on the log under other ids.
	known map[schemas.EventID]bool
	// blind reports that the server answers no questions, so that entries recorded under other ids
	// cannot be recognised.
	blind bool
}

// imports runs an import and prints its results.
func (a *app) imports(ctx context.Context, f importFlags, fn func(im *importer) error) error {
	done, err := runImport(ctx, a.connector, f.origin, fn)
	return errors.Join(err, a.printImports(done))
}

// printImports prints what was imported, if an import began. It fails if a source had no usable
// event, because that is a wrong file, not a history with gaps.
func (a *app) printImports(r *importReport) error {
	a.ClearProgress()
	if r == nil {
		return nil
	}
	var err error
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		a.printImported(r)
	}
	if slices.ContainsFunc(r.Imports, imported.unusable) {
		err = errors.Join(err, exitError(exitFailed))
	}
	return err
}

// importReport is what an import brought in.
type importReport struct {
	ElapsedMS int64      `json:"elapsed_ms"`
	Imports   []imported `json:"imports"`
	// DryRun reports that nothing was appended.
	DryRun bool `json:"-"`
}

// unusable reports that a source had entries, but none that could be imported.
func (r imported) unusable() bool { return r.Read == 0 && r.Skipped > 0 }

// report returns the results so far.
func (im *importer) report() *importReport {
	return &importReport{Imports: im.results, ElapsedMS: time.Since(im.started).Milliseconds(), DryRun: im.dry}
}

// runImport opens a backend and imports by fn. The report is nil if the import did not begin.
func runImport(ctx context.Context, con *connector, from origin, fn func(im *importer) error) (done *importReport, err error) {
	cfg, err := con.nodeConfig()
	if err != nil {
		return nil, err
	}
	r, err := redactor(cfg)
	if err != nil {
		return nil, err
	}
	im := &importer{term: con.Terminal, dataDir: cfg.DataDir, started: time.Now(), redactor: r}
	im.options = history.Options{
		User: from.user, Host: from.host, Time: im.started, Workspace: recording.Workspaces(),
		Redact: func(p *recountv1.CommandExecuted) { im.redacted += int64(len(r.Event(p))) },
	}
	if from.user == "" {
		im.options.User = recording.UserName(con.getenv)
	}
	if from.host == "" {
		im.options.Host = recording.HostName()
	}
	b, err := con.open(ctx, cfg, defaultWait)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	im.backend = b
	// The projections know what was imported before, so wait until they have caught up.
	stop := con.UnlessSoon(func() string { return "waiting for what was there before to be taken in" })
	err = settle(ctx, b)
	stop()
	switch {
	case errors.Is(err, errServesNot):
		im.blind = true
		fmt.Fprintln(con.Err, "recount: the server has not the role serve, so it cannot tell what is there already: an event that is appended again is applied once, but what a hook recorded is not recognised in a history")
	case err != nil:
		return nil, err
	}
	err = fn(im)
	return im.report(), err
}

// importBytes imports the events of a text in memory through a backend, and prints nothing.
func importBytes(ctx context.Context, b api.Backend, from string, text []byte, read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) (imported, error) {
	now := time.Now()
	im := &importer{term: &render.Terminal{Err: io.Discard, Silence: time.Hour}, backend: b, started: now, options: history.Options{Time: now}}
	err := im.run(ctx, from, read(bytes.NewReader(text), im.options), nil)
	return im.results[0], err
}

// errServesNot reports that the server does not answer questions.
var errServesNot = errors.New("the server has not the role serve")

// settle waits until the projections have applied everything that is on the log now.
func settle(ctx context.Context, b *backend) error {
	st, err := b.Status(ctx, api.StatusRequest{})
	if err != nil {
		return err
	}
	if b.local == nil && !slices.Contains(st.Roles, node.RoleServe) {
		return errServesNot
	}
	return waitFor(ctx, b, st.Log.Ends)
}

// atuin imports Atuin's history.
func (im *importer) atuin(ctx context.Context, path string, db *history.AtuinDB) (err error) {
	redacted := im.redacted
	if im.known, err = im.recognized(ctx, db.Events(ctx, im.options), commands.Filters{}, time.Now()); err != nil {
		return err
	}
	im.redacted = redacted
	return im.run(ctx, path, db.Events(ctx, im.options), func(done int64) (int64, int64) { return done, db.Rows })
}

// jsonl imports events, one JSON object a line, from a file or, for "-", the standard input.
func (im *importer) jsonl(ctx context.Context, path string) error {
	if path == "-" {
		return im.run(ctx, "standard input", history.JSONL(im.term.In, im.options), nil)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return im.stream(ctx, file, history.JSONL)
}

// history imports one shell history; shell is its format, "" to detect it.
func (im *importer) history(ctx context.Context, path, shell string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if shell == "" {
		text, err := history.Open(file)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		head := make([]byte, 64<<10)
		n, err := io.ReadFull(text, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", path, err)
		}
		if shell = history.Detect(path, head[:n]); shell == "" {
			return fmt.Errorf("%s: no telling which shell's history it is: say it with --shell", path)
		}
	}
	for _, f := range history.Formats {
		if f.Name == shell {
			if im.known, err = im.recognize(ctx, file, shell, f.Read); err != nil {
				return err
			}
			defer func() { im.known = nil }()
			return im.stream(ctx, file, f.Read)
		}
	}
	return usagef("--shell %q: want bash, zsh or fish", shell)
}

// stream imports a file; its modification time is used if the file has no times.
func (im *importer) stream(ctx context.Context, file *os.File, read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	o := im.options
	o.Time = info.ModTime()
	if _, err := file.Seek(0, io.SeekStart); err != nil && info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	counted := &counter{r: file}
	text, err := history.Open(counted)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	return im.run(ctx, file.Name(), read(text, o), func(int64) (int64, int64) { return counted.n, info.Size() })
}

// recognize returns the entries of a history that are recorded under other ids, by a hook or from
// another history. It reads the history once.
func (im *importer) recognize(ctx context.Context, file *os.File, shell string, read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) (map[schemas.EventID]bool, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err // a pipe can be read only once
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	text, err := history.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	o, redacted := im.options, im.redacted
	o.Time = info.ModTime()
	known, err := im.recognized(ctx, read(text, o), commands.Filters{Shell: shell, User: o.User, Host: o.Host}, o.Time)
	im.redacted = redacted // appending counts redactions again
	return known, err
}

// recognized returns the ids of the entries that are on the log under other ids, among the commands
// that pass the filters.
func (im *importer) recognized(ctx context.Context, entries iter.Seq2[schemas.Event, error], f commands.Filters, written time.Time) (map[schemas.EventID]bool, error) {
	r := history.NewRecognizer()
	for e, err := range entries {
		if err == nil {
			r.Add(e)
		} else if skip := (*history.SkipError)(nil); !errors.As(err, &skip) {
			return nil, err
		}
	}
	if im.blind {
		return nil, nil
	}
	var recorded []history.Recorded
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(im.backend.Scan(ctx, api.ScanRequest{Filters: f}, pw)) }()
	defer pr.Close()
	for d := json.NewDecoder(pr); ; {
		var c struct {
			ID           schemas.EventID `json:"id"`
			Time         time.Time       `json:"time"`
			Command, Cwd string
		}
		if err := d.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("look for what is recorded: %w", err)
		}
		recorded = append(recorded, history.Recorded{ID: c.ID, Time: c.Time, Command: c.Command, Cwd: c.Cwd})
	}
	return r.Known(recorded, written), nil
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// importBatch is the maximum number of events in one append: one fsync, one request.
// importBatchBytes bounds a batch because the HTTP API bounds a request's body.
const (
	importBatch      = 500
	importBatchBytes = 4 << 20
	maxProblems      = 20
)

// run appends the events of one source.
func (im *importer) run(ctx context.Context, from string, events iter.Seq2[schemas.Event, error], progress func(done int64) (n, of int64)) error {
	im.results = append(im.results, imported{From: from, Unit: im.unit})
	res := &im.results[len(im.results)-1]
	redacted, held := im.redacted, im.held
	draw := im.term.Progress()
	var batch []schemas.Event
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		done, err := im.backend.Append(ctx, batch)
		if errors.Is(err, api.ErrReused) {
			done, err = im.eachAlone(ctx, batch, res)
		}
		if err != nil {
			return fmt.Errorf("import %s: after %d events: %w; start it again to go on", from, res.Appended+res.Present, err)
		}
		for _, d := range done {
			if d.Duplicate {
				res.Present++
			} else {
				res.Appended++
			}
			im.last = &d.Position
		}
		batch, size = batch[:0], 0
		if draw != nil && progress != nil {
			n, of := progress(res.Read)
			draw(api.Progress{Phase: "import " + im.term.Home(from), Done: min(n, of-1), Total: of})
		}
		return nil
	}
	for e, err := range events {
		var skip *history.SkipError
		var some *spans.SkipError
		switch {
		case errors.As(err, &skip), errors.As(err, &some):
			if len(res.Problems) < maxProblems {
				res.Problems = append(res.Problems, err.Error())
			}
			res.Skipped++
			if some != nil {
				res.Skipped += int64(max(some.Spans, 1)) - 1
			}
			continue
		case err != nil:
			return errors.Join(flush(), fmt.Errorf("import %s: %w", from, err))
		}
		res.Read++
		if im.known[e.ID] {
			res.Present++
			continue
		}
		if len(e.Payload) > httpapi.MaxEvent {
			res.Skipped++
			res.Problems = append(res.Problems, fmt.Sprintf("%s: an event of %d bytes, at most %d", e.ID, len(e.Payload), httpapi.MaxEvent))
			continue
		}
		batch, size = append(batch, e), size+len(e.Payload)
		if len(batch) == importBatch || size >= importBatchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	err := flush()
	res.Redacted, res.Held = im.redacted-redacted, im.held-held
	return err
}

// eachAlone appends events one by one, and skips those with the id of a different event.
func (im *importer) eachAlone(ctx context.Context, events []schemas.Event, res *imported) ([]api.Appended, error) {
	var all []api.Appended
	for i := range events {
		done, err := im.backend.Append(ctx, events[i:i+1])
		switch {
		case errors.Is(err, api.ErrReused):
			if res.Skipped++; len(res.Problems) < maxProblems {
				res.Problems = append(res.Problems, fmt.Sprintf("%s %s: another event of this id is there, which says something else", events[i].Type, events[i].ID))
			}
		case err != nil:
			return nil, err
		default:
			all = append(all, done...)
		}
	}
	return all, nil
}

// printImported prints what each source brought in, and on standard error what was skipped.
func (a *app) printImported(done *importReport) {
	for _, r := range done.Imports {
		what := " appended"
		if done.DryRun {
			what = " would be appended (--dry-run)"
		}
		parts := []string{render.Thousands(r.Appended) + what}
		if r.Unit != "" {
			parts = []string{render.Count(int(r.Held), r.Unit), render.Count(int(r.Appended), "event") + what}
		}
		if r.Format != "" {
			parts = append([]string{r.Format}, parts...)
		}
		if r.Present > 0 {
			parts = append(parts, render.Thousands(r.Present)+" there already")
		}
		if r.Before > 0 {
			parts = append(parts, render.Thousands(r.Before)+" lines imported before")
		}
		if r.Redacted > 0 {
			parts = append(parts, render.Count(int(r.Redacted), "secret")+" redacted")
		}
		if r.Skipped > 0 {
			parts = append(parts, render.Thousands(r.Skipped)+" skipped")
		}
		a.Printf("%s: %s\n", a.Home(r.From), strings.Join(parts, ", "))
		if len(r.LeftOut) > 0 {
			a.Printf("  left out: %s\n", leftOut(r.LeftOut))
		}
		for _, p := range r.Problems {
			fmt.Fprintf(a.Err, "  skipped %s\n", p)
		}
		if more := r.Skipped - int64(len(r.Problems)); more > 0 {
			fmt.Fprintf(a.Err, "  and %s more\n", render.Thousands(more))
		}
	}
}
