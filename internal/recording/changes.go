package recording

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/redact/secrets"
)

// Changes is recount.v1.Changes in JSON: what changed below a directory while a command ran, by
// whatever process.
type Changes struct {
	Below       string        `json:"below"`
	LookedAt    time.Time     `json:"looked_at"`
	Files       []WrittenFile `json:"files,omitempty"`
	Directories []string      `json:"directories,omitempty"`
	// Remembered tells that every file of at most maxRememberedSize bytes was known from the look before.
	Remembered bool `json:"remembered,omitempty"`
}

// WrittenFile is recount.v1.WrittenFile in JSON.
type WrittenFile struct {
	Path   string `json:"path"`
	SHA256 []byte `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Mode   uint32 `json:"mode,omitempty"`
	// Removed tells that it is gone.
	Removed bool `json:"removed,omitempty"`
	// WasSHA256 and WasMode are what was known of it before, if anything.
	WasSHA256 []byte `json:"was_sha256,omitempty"`
	WasMode   uint32 `json:"was_mode,omitempty"`
	// changed is the time of its status.
	changed time.Time
}

const (
	// maxLooked is how many entries a look reads, and maxLook how long it takes, so that a large tree
	// costs little: then nothing is said about it.
	maxLooked = 20_000
	maxLook   = 200 * time.Millisecond
	// maxChanged is how many changed files, and how many directories, are recorded. If more
	// changed, none are: they say nothing about the command.
	maxChanged = 256
	// maxChangedHash is how many bytes of changed files are hashed for one command.
	maxChangedHash = 8 << 20
	// tick is more than the kernel's clock of file times lags behind the time.
	tick = 10 * time.Millisecond
)

// Looker looks for what commands changed. The zero Looker is ready.
type Looker struct {
	// Remember makes it keep what files contain, so that it can tell what a file was before it changed.
	Remember bool
	trees    []*remembered // the latest last
	// tooMuch has the directories that were too much to look through, until when not to try again.
	tooMuch map[string]time.Time
}

// pause is how long a directory is left alone that was too much to look through.
const pause = 10 * time.Minute

// Between looks for what changed while a command ran, below the root of the repository that contains a directory, or
// else below the directory around it that was looked at before, or else below the directory itself. data, a directory
// of Recount's own, is left out. It returns nil if that is too much to look through, not known for all of it, or if it
// has the home directory in it, where much else goes on. It also returns nil where commands follow each other
// faster than it looks, as they do when they are pasted: what another changed before it looked is not told apart.
func (k *Looker) Between(since, ended time.Time, cwd, home, data string) *Changes {
	below := Workspace(cwd)
	if below == "" {
		below = k.around(filepath.Clean(cwd), filepath.Clean(home))
	}
	below = filepath.Clean(below)
	if !filepath.IsAbs(below) || len(below) > 4096 || below == "/" || home != "" && isBelow(filepath.Clean(home), below) || time.Now().Before(k.tooMuch[below]) {
		return nil
	}
	began := time.Now()
	l := look{since: since.Add(-tick), until: began.Add(maxLook), skip: data}
	if k.Remember {
		l.before = k.tree(below)
	}
	if !l.root(below) {
		if l.before != nil {
			l.before.all = false
		}
		if k.tooMuch == nil {
			k.tooMuch = map[string]time.Time{}
		}
		k.tooMuch[below] = time.Now().Add(pause)
		return nil
	}
	unsure := l.leaveOut(ended)
	c := &Changes{Below: below, Files: l.files}
	slices.SortFunc(c.Files, func(a, b WrittenFile) int { return strings.Compare(a.Path, b.Path) })
	left := int64(maxChangedHash)
	for i := range c.Files {
		if f := &c.Files[i]; l.regular[f.Path] && f.Size <= left {
			left -= f.Size
			f.SHA256 = HashOf(f.Path, f.Size)
		}
	}
	if l.before != nil && !l.before.learn(c, &l, since, began) {
		unsure = true
	}
	for _, d := range l.directories {
		c.Directories = append(c.Directories, d.path)
	}
	slices.Sort(c.Directories)
	if unsure || len(c.Files) > maxChanged || len(l.directories) > maxChanged {
		return nil
	}
	c.LookedAt = time.Now().UTC()
	return c
}

// around returns the outermost of the remembered directories below the home directory that a directory is in, or
// else the directory itself: who works in a folder that is no repository goes in and out of those in it.
func (k *Looker) around(dir, home string) string {
	best := dir
	for _, t := range k.trees {
		if isBelow(best, t.below) && isBelow(t.below, home) && !time.Now().Before(k.tooMuch[t.below]) {
			best = t.below
		}
	}
	return best
}

// plain reports whether all paths can be recorded as they are: valid text without a secret.
func (c *Changes) plain(r *secrets.Redactor) bool {
	fine := func(path string) bool {
		out, _ := r.Text(path)
		return out == path && Clean(path) == path && len(path) <= 4096
	}
	return fine(c.Below) && !slices.ContainsFunc(c.Files, func(f WrittenFile) bool { return !fine(f.Path) }) &&
		!slices.ContainsFunc(c.Directories, func(d string) bool { return !fine(d) })
}

// isBelow reports whether a clean path is a directory or below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// look is what Since has found so far.
type look struct {
	since, until time.Time
	skip         string // a directory that is left out
	entries      int
	files        []WrittenFile
	directories  []directory
	regular      map[string]bool // of the files, those with content
	before       *remembered     // nil if nothing is remembered
	others       []WrittenFile   // files whose content is to be remembered, although they did not change since
	small        int             // how many files are small enough to be remembered
}

// directory is a directory in which names were added or removed, and the time of its status.
type directory struct {
	path    string
	changed time.Time
}

// seen counts an entry, and reports whether the look may go on.
func (l *look) seen() bool {
	l.entries++
	return l.entries <= maxLooked && (l.entries%256 != 0 || time.Now().Before(l.until))
}

// leaveOut leaves out what changed after a time, which the next look tells, and reports whether something did.
func (l *look) leaveOut(ended time.Time) bool {
	found := len(l.files) + len(l.directories)
	l.files = slices.DeleteFunc(l.files, func(f WrittenFile) bool { return f.changed.After(ended) })
	l.directories = slices.DeleteFunc(l.directories, func(d directory) bool { return d.changed.After(ended) })
	return len(l.files)+len(l.directories) < found
}

// file adds a changed file, unless there are too many already.
func (l *look) file(f WrittenFile, regular bool) {
	if len(l.files) > maxChanged {
		return
	}
	l.files = append(l.files, f)
	if regular {
		if l.regular == nil {
			l.regular = map[string]bool{}
		}
		l.regular[f.Path] = true
	}
}

// HashOf returns the SHA-256 of a regular file, nil if it cannot be read or does not have the size.
func HashOf(path string, size int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil || n != size {
		return nil
	}
	return h.Sum(nil)
}
