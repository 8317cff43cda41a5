package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mark is what State/step/mark has while a step is under way that nothing runs beside: what has to be known to take back
// what the step has changed. Paths are relative to State.
type mark struct {
	Step  string `json:"step"`
	Boot  string `json:"boot"`  // of the kernel; after a crash of the machine the disk may have anything
	Clock int64  `json:"clock"` // what has an older change time was not changed by the step
	Sum   []byte `json:"sum"`   // of all paths, and of the modes of directories
	// Gone are the paths that the layer says are removed.
	Gone [][]byte `json:"gone,omitempty"`
	// Saved are the files of which there are copies, by their place in this list.
	Saved [][]byte `json:"saved,omitempty"`
}

// Limits of what is copied before a step.
const (
	maxSaved      = 1000
	maxSavedBytes = 16 << 20
)

// Begin says that a step is about to run, and nothing beside it, so that what it changes can be taken back if it is
// killed. paths are what it is known to write: what earlier steps wrote there is copied, as nothing else has it. What
// only the real directory has needs no copy. Where that can't be done, nothing will be taken back.
func (s *Sandbox) Begin(step string, paths []string) {
	if s.state == nil || s.state.Copy {
		return
	}
	s.End()
	if s.note(step, paths) != nil {
		s.End()
	}
}

// note writes the mark.
func (s *Sandbox) note(step string, paths []string) error {
	dir := filepath.Join(s.opt.State, "step")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	m := mark{Step: step, Boot: boot()}
	all := outline{}
	latest := int64(0)
	err := s.written(func(rel string, info fs.FileInfo) error {
		all.add(rel, info)
		latest = max(latest, changeTime(info))
		if isWhiteout(info) {
			m.Gone = append(m.Gone, []byte(rel))
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Sum = all.sum()
	if m.Saved, err = s.save(dir, paths); err != nil {
		return err
	}
	if m.Clock, err = clockAfter(s.opt.State, latest); err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mark"), b, 0o600)
}

// End says that the step has come to its end: what it did stays.
func (s *Sandbox) End() { _ = os.RemoveAll(filepath.Join(s.opt.State, "step")) }

// TakenBack returns the step that was under way when the sandbox before this one was killed, if all that it had changed
// was taken back, and else "".
func (s *Sandbox) TakenBack() string { return s.takenBack }

// takeBack puts all back to before the step that was under way, if that can be done. If not, nothing is changed.
func (s *Sandbox) takeBack() {
	b, err := os.ReadFile(filepath.Join(s.opt.State, "step", "mark"))
	var m mark
	if err == nil && json.Unmarshal(b, &m) == nil && m.Boot == boot() && s.undo(m) == nil {
		s.takenBack = m.Step
		s.notes = append(s.notes, "what the step that was under way had changed is taken back")
	}
	s.End()
}

var errChanged = errors.New("something was changed that is nowhere else")

func (s *Sandbox) undo(m mark) error {
	gone, kept := map[string]bool{}, map[string]bool{}
	for _, p := range m.Gone {
		gone[string(p)] = true
	}
	for _, f := range m.Saved {
		kept[string(f)] = true
	}
	all := outline{}
	var made []string
	err := s.written(func(rel string, info fs.FileInfo) error {
		old := changeTime(info) < m.Clock
		if isWhiteout(info) { // all have one inode
			old = gone[rel]
		}
		switch {
		case old || info.IsDir() && !s.born(rel, m.Clock):
			all.add(rel, info)
		case kept[rel] && !info.IsDir():
			// its copy takes its place
		case isWhiteout(info) || s.born(rel, m.Clock):
			made = append(made, rel)
			if info.IsDir() {
				return fs.SkipDir
			}
		default:
			return errChanged
		}
		return nil
	})
	if err != nil {
		return err
	}
	var back []int
	for i, f := range m.Saved {
		rel := string(f)
		if _, there := all[rel]; there {
			continue
		}
		back = append(back, i)
		all[rel] = 0
	}
	if !bytes.Equal(all.sum(), m.Sum) {
		return errChanged
	}
	for _, rel := range made {
		if err := removeAll(filepath.Join(s.opt.State, rel)); err != nil {
			return err
		}
	}
	for _, i := range back {
		if err := s.restore(i, string(m.Saved[i])); err != nil {
			return err
		}
	}
	return nil
}

// restore puts the copy of a file in its place.
func (s *Sandbox) restore(i int, rel string) error {
	from := filepath.Join(s.opt.State, "step", strconv.Itoa(i))
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	tmp := from + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := copyFile(from, tmp, info); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(s.opt.State, rel))
}

// save copies what earlier steps wrote at or below paths.
func (s *Sandbox) save(dir string, paths []string) ([][]byte, error) {
	var all [][]byte
	bytes := int64(0)
	known := map[string]bool{}
	for _, p := range paths {
		rel, ok := s.layered(p)
		if !ok {
			continue
		}
		err := filepath.WalkDir(filepath.Join(s.opt.State, rel), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() || known[name] {
				return err
			}
			if _, several := joined(info); several || len(all) == maxSaved || bytes+info.Size() > maxSavedBytes {
				return nil
			}
			known[name] = true
			rel, err := filepath.Rel(s.opt.State, name)
			if err != nil {
				return err
			}
			if err := copyFile(name, filepath.Join(dir, strconv.Itoa(len(all))), info); err != nil {
				return err
			}
			bytes += info.Size()
			all = append(all, []byte(rel))
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !gone(err) {
			return nil, err
		}
	}
	return all, nil
}

// layered returns where, below State, the layer has what commands see at a path.
func (s *Sandbox) layered(p string) (string, bool) {
	for root, layer := range map[string]string{s.opt.Dir: "upper", "/tmp": "tmp", "/var/tmp": "vartmp"} {
		if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) && (layer == "upper" || !Within(s.opt.Dir, p)) {
			return filepath.Join(layer, rel), true
		}
	}
	return "", false
}

// written goes through all that commands wrote, with paths below State. A directory that the user may not read is an error.
func (s *Sandbox) written(each func(rel string, info fs.FileInfo) error) error {
	homes, err := filepath.Glob(filepath.Join(s.opt.State, "homes", "*", "upper"))
	if err != nil {
		return err
	}
	for _, layer := range append([]string{"upper", "tmp", "vartmp", "home"}, relativeTo(s.opt.State, homes)...) {
		err := filepath.WalkDir(filepath.Join(s.opt.State, layer), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(s.opt.State, name)
			if err != nil {
				return err
			}
			return each(rel, info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func relativeTo(dir string, all []string) []string {
	var out []string
	for _, p := range all {
		out = append(out, strings.TrimPrefix(p, dir+"/"))
	}
	return out
}

// born reports whether a path was made at or after a time. Where the file system does not tell, it was not.
func (s *Sandbox) born(rel string, clock int64) bool {
	var x unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, filepath.Join(s.opt.State, rel), unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &x)
	return err == nil && x.Mask&unix.STATX_BTIME != 0 && x.Btime.Sec*1e9+int64(x.Btime.Nsec) >= clock
}

// boot names this run of the kernel.
func boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without one all runs are the same
	return string(b)
}

// outline is a set of paths, with the modes of directories and the types of others.
type outline map[string]fs.FileMode

func (o outline) add(rel string, info fs.FileInfo) {
	mode := info.Mode()
	if !mode.IsDir() {
		mode = mode.Type()
	}
	o[rel] = mode
}

func (o outline) sum() []byte {
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(h, "%o %q\n", o[p], p)
	}
	return h.Sum(nil)
}
