package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	_ "modernc.org/sqlite" // the driver
)

// AtuinDB is Atuin's history, an SQLite database opened read-only.
type AtuinDB struct {
	db      *sql.DB
	columns map[string]bool
	// Rows is the number of entries.
	Rows int64
}

// OpenAtuin opens the database at path, typically ~/.local/share/atuin/history.db. Atuin may write
// to it at the same time.
func OpenAtuin(ctx context.Context, path string) (*AtuinDB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("atuin: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("atuin: %s: is a directory; want the file history.db", path)
	}
	a, err := openAtuin(ctx, path, "mode=ro")
	if err != nil {
		// A database in WAL mode needs a file beside it, which cannot be created in a read-only
		// directory. Without a WAL nothing is missed.
		if _, wal := os.Stat(path + "-wal"); errors.Is(wal, fs.ErrNotExist) {
			if b, err2 := openAtuin(ctx, path, "immutable=1"); err2 == nil {
				return b, nil
			}
		}
		return nil, fmt.Errorf("atuin: %s: %w", path, err)
	}
	return a, nil
}

func openAtuin(ctx context.Context, path, mode string) (*AtuinDB, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: mode + "&_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return nil, err
	}
	a := &AtuinDB{db: db, columns: map[string]bool{}}
	if err := a.inspect(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *AtuinDB) inspect(ctx context.Context) error {
	rows, err := a.db.QueryContext(ctx, `SELECT name FROM pragma_table_info('history')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		a.columns[name] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, need := range []string{"id", "timestamp", "duration", "exit", "command", "cwd", "session", "hostname"} {
		if !a.columns[need] {
			return fmt.Errorf("no column history.%s: not an Atuin database, or of an unknown version", need)
		}
	}
	return a.db.QueryRowContext(ctx, `SELECT count(*) FROM history WHERE `+a.live()).Scan(&a.Rows)
}

func (a *AtuinDB) live() string {
	if a.columns["deleted_at"] {
		return "deleted_at IS NULL"
	}
	return "1"
}

// Close closes the database.
func (a *AtuinDB) Close() error { return a.db.Close() }

// Events yields the entries that were not deleted, in order of time. Their ids are based on Atuin's
// own, so the User and Host of Options are only used if an entry has none.
func (a *AtuinDB) Events(ctx context.Context, o Options) iter.Seq2[schemas.Event, error] {
	optional := func(column string) string {
		if a.columns[column] {
			return "coalesce(" + column + ", '')"
		}
		return "''"
	}
	// Times are cast because a column may hold a float; text is read unchanged.
	query := `SELECT id, CAST(timestamp AS INTEGER), CAST(duration AS INTEGER), CAST(exit AS INTEGER),
		command, cwd, session, hostname, ` + optional("author") + `, ` + optional("intent") + `
		FROM history WHERE ` + a.live() + ` ORDER BY timestamp, id`
	return func(yield func(schemas.Event, error) bool) {
		rows, err := a.db.QueryContext(ctx, query)
		if err != nil {
			yield(schemas.Event{}, fmt.Errorf("atuin: %w", err))
			return
		}
		defer rows.Close()
		for n := 1; rows.Next(); n++ {
			var r atuinRow
			if err := rows.Scan(&r.id, &r.timestamp, &r.duration, &r.exit, &r.command, &r.cwd, &r.session, &r.hostname, &r.author, &r.intent); err != nil {
				if !yield(schemas.Event{}, &SkipError{n, err.Error()}) {
					return
				}
				continue
			}
			if !yield(r.event(n, o)) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(schemas.Event{}, fmt.Errorf("atuin: %w", err))
		}
	}
}

type atuinRow struct {
	id, command, cwd, session, hostname, author, intent string
	timestamp, duration, exit                           int64
}

// unknownCwd is what Atuin writes if there was no directory, for example in histories that it
// imported.
const unknownCwd = "unknown"

func (r atuinRow) event(n int, o Options) (schemas.Event, error) {
	command := recording.Clean(r.command)
	switch {
	case r.id == "":
		return schemas.Event{}, &SkipError{n, "no id"}
	case strings.TrimSpace(command) == "":
		return schemas.Event{}, &SkipError{n, "empty"}
	case len(command) > maxCommand:
		return schemas.Event{}, &SkipError{n, fmt.Sprintf("a command of %d bytes, the maximum is %d", len(command), maxCommand)}
	}
	at := time.Unix(0, r.timestamp).UTC()
	p := &recountv1.CommandExecuted{
		Command: command, Cwd: recording.Clean(r.cwd), Session: recording.Clean(r.session), User: o.User, Host: o.Host,
		StartedAt: timestamppb.New(at), Author: recording.Clean(r.author), StatedIntent: recording.Clean(r.intent),
	}
	if p.Cwd == unknownCwd {
		p.Cwd = ""
	}
	// hostname has the form "host:user".
	if host, user, ok := strings.Cut(recording.Clean(r.hostname), ":"); ok {
		p.Host, p.User = host, user
	} else if host != "" {
		p.Host = host
	}
	// Atuin writes -1 for an unknown value: of a command that has not ended, or of one from an
	// imported history.
	if r.duration >= 0 {
		p.Duration = durationpb.New(time.Duration(r.duration))
	}
	if code := int32(r.exit); r.exit == int64(code) && (r.exit != -1 || r.duration > 0) {
		p.ExitCode = &code
	}
	if o.Workspace != nil && p.Cwd != "" {
		p.Workspace = o.Workspace(p.Cwd)
	}
	if o.Redact != nil {
		o.Redact(p)
	}
	return newEvent(schemas.NewCanon("recount/import/1").String("atuin").String(r.id).ID(), "import/atuin", at, p)
}
