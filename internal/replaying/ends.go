package replaying

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// Ways in which a run can leave a file otherwise than the recorder saw it at the end of the narrative.
const (
	Missing = "missing" // it was there
	Present = "present" // it was not there
	Content = "content" // it had another content
	Twice   = "twice"   // the same, and a step that writes it ran again over what it had left when the run was killed
)

// Difference is a file that a run left otherwise than the recorder saw it at the end of the narrative.
type Difference struct {
	Path string `json:"path" example:"/home/bob/app/bin/app" doc:"Its path."`
	What string `json:"what" enum:"missing,present,content,twice" example:"missing" doc:"missing: it was there; present: it was not; content: it had another content; twice: so it had, and a step that writes it ran again over what it had left when the run was killed."`
}

// String returns the difference as a sentence.
func (d Difference) String() string {
	switch d.What {
	case Missing:
		return d.Path + " is missing"
	case Present:
		return d.Path + " is there, and was not"
	case Twice:
		return d.Path + " has another content: a step that was under way when the run ended wrote it twice"
	}
	return d.Path + " has another content"
}

// Parts reports whether a run and the narrative came to different ends. Contents alone do not say so: they have times,
// paths and what steps were given.
func Parts(all []Difference) bool {
	return slices.ContainsFunc(all, func(d Difference) bool { return d.What != Content })
}

// maxCompared is the size in bytes of the largest file whose content is compared.
const maxCompared = 64 << 20

// ended is what a run left: a directory, and the changes that it does not have yet.
type ended struct {
	dir     string
	changes map[string]*sandbox.Entry // by absolute path; nil if it is removed
}

// differences compares what a run left with what the plan expects at its end. It knows nothing of what lies outside of
// the directory. twice are the paths that steps write which ran again over what they had left.
func differences(p *replay.Plan, dir string, changes []sandbox.Change, twice []string) []Difference {
	e := ended{dir, map[string]*sandbox.Entry{}}
	for _, c := range changes {
		e.changes[filepath.Join(dir, c.Path)] = c.New
	}
	expected := map[string]bool{} // the files, and the directories that they are in
	for _, post := range p.Ends {
		for name := post.Target; len(name) > len(dir) && !expected[name]; name = filepath.Dir(name) {
			expected[name] = true
		}
	}
	var out []Difference
	for _, post := range p.Ends {
		if !strings.HasPrefix(post.Target, dir+"/") {
			continue
		}
		there, hash := e.at(post.Target)
		switch {
		case post.Kind == replay.PostAbsent && there:
			out = append(out, Difference{post.Target, Present})
		case post.Kind == replay.PostAbsent:
		case there && hash != "" && post.Hash != "" && hash != post.Hash:
			what := Content
			if slices.ContainsFunc(twice, func(path string) bool { return sandbox.Within(path, post.Target) }) {
				what = Twice
			}
			out = append(out, Difference{post.Target, what})
		case there:
		case e.numbered(e.missing(post.Target), expected): // it is there by another name
		default:
			out = append(out, Difference{post.Target, Missing})
		}
	}
	slices.SortStableFunc(out, func(x, y Difference) int {
		return cmp.Compare(order[x.What], order[y.What])
	})
	return out
}

// order puts the contents last.
var order = map[string]int{Content: 1}

// number matches a word with a digit in it, such as a time, a process number or a hash.
var number = regexp.MustCompile(`[0-9A-Za-z]*[0-9][0-9A-Za-z]*`)

// numbered reports whether beside a path there is one that nobody expects and whose name differs only in words with a digit,
// as log-1700000000.txt and log-1700000001.txt do.
func (e ended) numbered(name string, expected map[string]bool) bool {
	dir, base := filepath.Split(name)
	if !number.MatchString(base) {
		return false
	}
	same := func(other string) bool {
		there, _ := e.at(other)
		return there && !expected[other] && number.ReplaceAllString(filepath.Base(other), "#") == number.ReplaceAllString(base, "#")
	}
	for other := range e.changes {
		if filepath.Dir(other) == filepath.Clean(dir) && same(other) {
			return true
		}
	}
	entries, _ := os.ReadDir(dir) // where there is none, nothing is beside it
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return same(filepath.Join(dir, entry.Name())) })
}

// missing returns the outermost directory around a missing file that is missing, too, or else the file.
func (e ended) missing(name string) string {
	for up := filepath.Dir(name); len(up) > len(e.dir); up = filepath.Dir(up) {
		if there, _ := e.at(up); there {
			break
		}
		name = up
	}
	return name
}

// at returns whether something is at a path, and the hash of its content if that can be told.
func (e ended) at(name string) (there bool, hash string) {
	if entry, ok := e.changes[name]; ok {
		if entry == nil {
			return false, ""
		}
		return true, entry.Hash
	}
	for up := filepath.Dir(name); up != e.dir; up = filepath.Dir(up) {
		if entry, ok := e.changes[up]; ok && (entry == nil || !entry.Mode.IsDir()) {
			return false, ""
		}
	}
	info, err := os.Lstat(name)
	if err != nil {
		return false, ""
	}
	if !info.Mode().IsRegular() || info.Size() > maxCompared {
		return true, ""
	}
	return true, hex.EncodeToString(recording.HashOf(name, info.Size()))
}

// reason says in a line why a run that did all its steps came to another end, "" if it did not.
func reason(all []Difference) string {
	if !Parts(all) {
		return ""
	}
	text := "not as at the end of what was recorded: " + all[0].String()
	if len(all) > 1 {
		text += fmt.Sprintf(", and %d more", len(all)-1)
	}
	return text
}
