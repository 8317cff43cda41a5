package importing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// AtuinPath returns where Atuin keeps its database.
func AtuinPath(getenv func(string) string) string {
	if path := getenv("ATUIN_DB_PATH"); path != "" {
		return path
	}
	base := getenv("XDG_DATA_HOME")
	if base == "" {
		base = filepath.Join(getenv("HOME"), ".local", "share")
	}
	return filepath.Join(base, "atuin", "history.db")
}

// Histories returns the shell histories that exist.
func Histories(getenv func(string) string) []string {
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

// Atuin imports Atuin's history.
func (im *Importer) Atuin(ctx context.Context, path string, db *history.AtuinDB) (err error) {
	redacted := im.redacted
	if im.known, err = im.recognized(ctx, db.Events(ctx, im.options), commands.Filters{}, time.Now()); err != nil {
		return err
	}
	im.redacted = redacted
	return im.run(ctx, path, db.Events(ctx, im.options), func(done int64) (int64, int64, string) { return done, db.Rows, "rows" })
}

// JSONL imports events, one JSON object a line, from a file or, for "-", the standard input.
func (im *Importer) JSONL(ctx context.Context, path string) error {
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

// History imports one shell history; shell is its format, "" to detect it.
func (im *Importer) History(ctx context.Context, path, shell string) error {
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
			return fmt.Errorf("%s: cannot detect which shell's history it is: give --shell", path)
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
	return usage.Errorf("--shell %q: want bash, zsh or fish", shell)
}

// recognize returns the entries of a history that are recorded under other ids, by a hook or from
// another history. It reads the history once.
func (im *Importer) recognize(ctx context.Context, file *os.File, shell string, read func(io.Reader, history.Options) iter.Seq2[schemas.Event, error]) (map[schemas.EventID]bool, error) {
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
func (im *Importer) recognized(ctx context.Context, entries iter.Seq2[schemas.Event, error], f commands.Filters, written time.Time) (map[schemas.EventID]bool, error) {
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
			return nil, fmt.Errorf("look up recorded commands: %w", err)
		}
		recorded = append(recorded, history.Recorded{ID: c.ID, Time: c.Time, Command: c.Command, Cwd: c.Cwd})
	}
	return r.Known(recorded, written), nil
}
