//go:build linux || darwin

package recording

import (
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// root looks through a directory, and reports whether it could look through all of it.
func (l *look) root(dir string) bool {
	var st unix.Stat_t
	return local(dir) && unix.Lstat(dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && l.dir(dir, &st, uint64(st.Dev))
}

// dir looks through a directory with the given status. All must be on one device, since the clock of
// another may differ.
func (l *look) dir(dir string, st *unix.Stat_t, device uint64) bool {
	if l.changed(st) {
		l.directories = append(l.directories, directory{dir, time.Unix(st.Ctim.Unix())})
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return false
	}
	inGit := path.Base(dir) == ".git"
	for _, name := range names {
		if !l.seen() {
			return false
		}
		var st unix.Stat_t
		if err := unix.Fstatat(int(f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT {
			continue // it was removed just now
		} else if err != nil || uint64(st.Dev) != device {
			return false
		}
		f := WrittenFile{Path: path.Join(dir, name), Size: st.Size, Mode: uint32(st.Mode) & 0o7777, changed: time.Unix(st.Ctim.Unix())}
		regular := st.Mode&unix.S_IFMT == unix.S_IFREG
		if regular && f.Size <= maxRememberedSize {
			l.small++
		}
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFDIR:
			if inGit && name == "objects" || f.Path == l.skip {
				continue
			}
			if !l.dir(f.Path, &st, device) {
				return false
			}
		case l.changed(&st):
			l.file(f, regular)
		case l.before != nil && len(l.others) < maxRemembered && regular && l.before.asks(f):
			l.others = append(l.others, f)
		}
	}
	return true
}

// changed reports whether a file's content or status changed since. Unlike the time of its content, no
// program can set this time.
func (l *look) changed(st *unix.Stat_t) bool {
	return !time.Unix(st.Ctim.Unix()).Before(l.since)
}
