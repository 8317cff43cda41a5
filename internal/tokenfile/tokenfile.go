package tokenfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/settingsfile"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/server/access"
)

// Add adds an entry to a tokens file and checks that the result holds the new and all old
// entries.
func Add(path, entry string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, err := access.ParseAll(old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text := string(old)
	if len(before) == 0 {
		// Keep comments and remove an empty list.
		if kept := strings.TrimRight(strings.ReplaceAll(text, "tokens: []", ""), "\n"); !strings.Contains(kept, "tokens:") {
			text = strings.TrimLeft(kept+"\ntokens:\n", "\n")
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += entry
	if after, err := access.ParseAll([]byte(text)); err != nil || len(after) != len(before)+1 {
		return fmt.Errorf("%s: tokens is not the last key, or not a block list: add the entry by hand\n%s", path, entry)
	}
	return replaceTokens(path, old, []byte(text))
}

// replaceTokens replaces the tokens file that held before by after, unless it was changed in the
// meantime. A symbolic link is kept.
func replaceTokens(path string, before, after []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	return settingsfile.Write(path, after, mode, func() error {
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if string(now) != string(before) {
			return fmt.Errorf("%s was changed in the meantime: try again", path)
		}
		return nil
	})
}

// minHashDigits is the minimum length of the start of a hash that revoke accepts.
const minHashDigits = 6

// Revoke removes the entries that text names from a tokens file, and returns them.
func Revoke(path, text string, all bool) ([]access.Entry, error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	has, err := access.Parse(old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	digits, hash := strings.ToLower(text), access.Hash(text)
	found := slices.DeleteFunc(has.Entries, func(e access.Entry) bool {
		sum := strings.ToLower(e.SHA256)
		return e.Name != text && sum != hash && (len(digits) < minHashDigits || !strings.HasPrefix(sum, digits))
	})
	switch {
	case len(found) == 0 && len(has.Mistakes) > 0:
		return nil, fmt.Errorf("%s: no entry in force has that token; entries not in force because of a mistake: %d (recount token list)", path, len(has.Mistakes))
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no entry has that token: want its name, at least %d digits of its SHA-256, or the token itself", path, minHashDigits)
	case len(found) > 1 && !all:
		return nil, usage.Errorf("%d tokens have that name or prefix: give more of the SHA-256 (recount token list), or --all", len(found))
	}
	now := old
	for _, e := range slices.Backward(found) { // from the end, so that the lines of the others stay valid
		if now, err = access.Remove(now, e.Line); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, e.Line, err)
		}
	}
	return found, replaceTokens(path, old, now)
}
