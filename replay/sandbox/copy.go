package sandbox

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyDir makes the view of the directory a copy of it. Where the file system shares blocks between
// files (btrfs, XFS), the kernel does so instead of copying.
func (s *Sandbox) copyDir(ctx context.Context, why string) error {
	to := filepath.Join(s.opt.State, "copy")
	if err := removeAll(to); err != nil { // of an Open that was killed
		return fmt.Errorf("sandbox: %w", err)
	}
	var all []sight
	size, err := copyTree(ctx, s.opt.Dir, to, s.opt.Limits.Copy, func(rel string, info fs.FileInfo) {
		all = append(all, sight{path: rel, there: true, mode: info.Mode()})
	})
	if err != nil {
		return fmt.Errorf("sandbox: copy %s: %w", s.opt.Dir, err)
	}
	if err := s.see(all); err != nil {
		return err
	}
	copied, err := tick(s.opt.State)
	if err != nil {
		return err
	}
	s.state.Copy, s.state.Copied = true, copied
	s.notes = append(s.notes, fmt.Sprintf("works on a copy of %s (%d bytes): %s", s.opt.Dir, size, why))
	return nil
}

// copyTree copies files, directories and links with their modes and times. The names of one file are those of one file
// again. Sockets, pipes and devices are left out. Each of the others is told before it is copied.
func copyTree(ctx context.Context, from, to string, limit int64, tell func(rel string, info fs.FileInfo)) (size int64, err error) {
	type made struct {
		path string
		info fs.FileInfo
	}
	var dirs []made
	copied := map[file]string{}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() || info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 {
			tell(rel, info)
		}
		switch {
		case d.IsDir():
			dirs = append(dirs, made{target, info})
			return os.Mkdir(target, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case info.Mode().IsRegular():
			if f, ok := joined(info); ok {
				if first, known := copied[f]; known {
					return os.Link(first, target)
				}
				copied[f] = target
			}
			if size += info.Size(); size > limit {
				return &copyLimitError{limit}
			}
			return copyFile(path, target, info)
		}
		return nil
	})
	if err != nil {
		return size, err
	}
	for i := len(dirs) - 1; i >= 0; i-- { // inner ones first, as this changes the outer one's time
		d := dirs[i]
		if err := os.Chmod(d.path, permissions(d.info.Mode())); err != nil {
			return size, err
		}
		if err := os.Chtimes(d.path, d.info.ModTime(), d.info.ModTime()); err != nil {
			return size, err
		}
	}
	return size, nil
}

func copyFile(from, to string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(info.Mode().Perm())
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// copyLimitError says that a directory is too large for a copy.
type copyLimitError struct{ limit int64 }

func (e *copyLimitError) Error() string {
	return fmt.Sprintf("it has more than %d MiB, the limit for a copy: replay in a smaller directory, or on a system with overlayfs for users", e.limit>>20)
}
