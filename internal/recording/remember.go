package recording

import (
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// maxTrees is how many directories a Looker remembers.
	maxTrees = 3
	// maxRemembered is how many files of each, and maxRememberedSize the size of the largest. Together they
	// have at most maxChangedHash bytes when a directory is first looked at.
	maxRemembered     = 2000
	maxRememberedSize = 256 << 10
)

// remembered is what the files of a directory contained when they were last looked at.
type remembered struct {
	below string
	at    time.Time // when the last look began; zero before the first
	ended time.Time // when it ended
	files map[string]content
	all   bool // these are all the files of at most maxRememberedSize bytes
	// directories are those that had changed when they were last looked at, with the times of their status.
	directories map[string]time.Time
}

// content is the SHA-256 of a file, its permissions, and the time of its status.
type content struct {
	hash    [32]byte
	mode    uint32
	changed int64 // Unix nanoseconds
}

// tree returns what is remembered of a directory, nothing for a new one. The directories that were looked at
// last are kept.
func (k *Looker) tree(below string) *remembered {
	i := slices.IndexFunc(k.trees, func(t *remembered) bool { return t.below == below })
	t := &remembered{below: below, files: map[string]content{}}
	if i >= 0 {
		t = k.trees[i]
		k.trees = slices.Delete(k.trees, i, i+1)
	} else if len(k.trees) == maxTrees {
		k.trees = slices.Delete(k.trees, 0, 1)
	}
	k.trees = append(k.trees, t)
	return t
}

// asks reports whether a file that did not change since has to be read: it changed after the last look, or
// nothing is known of it yet.
func (r *remembered) asks(f WrittenFile) bool {
	if f.Size > maxRememberedSize || len(r.files) >= maxRemembered {
		return false
	}
	_, known := r.files[f.Path]
	return !known && r.at.IsZero() || !f.changed.Before(r.at.Add(-tick))
}

// learn adds the files that are gone, tells what those that changed were before, and remembers what all contain
// now. The clock of file times lags behind, so what one command changed last may seem to be changed by the next
// one, too: learn leaves out what changed before the time since by this clock and is as the last look saw it. If that
// look had not ended by then, either command may have changed it, and learn returns false. began is when the look began.
func (r *remembered) learn(c *Changes, l *look, since, began time.Time) (sure bool) {
	gone := map[string]bool{} // the entries of changed directories by which files were reached
	for _, dir := range l.directories {
		for path, was := range r.files {
			in, below := strings.CutPrefix(path, dir.path+"/")
			if !below {
				continue
			}
			name, _, _ := strings.Cut(in, "/")
			entry := dir.path + "/" + name
			if _, looked := gone[entry]; !looked {
				_, err := os.Lstat(entry)
				gone[entry] = os.IsNotExist(err)
			}
			if gone[entry] {
				c.Files = append(c.Files, WrittenFile{Path: path, Removed: true, WasSHA256: slices.Clone(was.hash[:]), WasMode: was.mode})
				delete(r.files, path)
			}
		}
	}
	slices.SortFunc(c.Files, func(a, b WrittenFile) int { return strings.Compare(a.Path, b.Path) })
	settled := r.ended.Before(since) // what is remembered is from before
	c.Remembered = settled && r.all
	sure = true
	files := c.Files[:0]
	for _, f := range c.Files {
		if !f.Removed {
			was, known := r.files[f.Path]
			if known {
				f.WasSHA256, f.WasMode = slices.Clone(was.hash[:]), was.mode
			}
			if r.keep(f); known && f.changed.Before(since) && r.files[f.Path] == was {
				sure = sure && settled
				continue
			}
		}
		files = append(files, f)
	}
	c.Files = files
	left := int64(maxChangedHash)
	for _, f := range l.others {
		if left -= f.Size; left < 0 {
			break
		}
		f.SHA256 = HashOf(f.Path, f.Size)
		r.keep(f)
	}
	r.at, r.ended, r.all = began, time.Now(), len(r.files) == l.small
	was := r.directories
	r.directories = map[string]time.Time{}
	for _, d := range l.directories {
		r.directories[d.path] = d.changed
	}
	l.directories = slices.DeleteFunc(l.directories, func(d directory) bool {
		before := d.changed.Before(since) && d.changed.Equal(was[d.path])
		sure = sure && (settled || !before)
		return before
	})
	return sure
}

// keep remembers what a file contains, or forgets it if that is not known.
func (r *remembered) keep(f WrittenFile) {
	if len(f.SHA256) != 32 || f.Size > maxRememberedSize {
		delete(r.files, f.Path)
		return
	}
	if _, known := r.files[f.Path]; known || len(r.files) < maxRemembered {
		r.files[f.Path] = content{[32]byte(f.SHA256), f.Mode, f.changed.UnixNano()}
	}
}
