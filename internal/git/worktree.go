package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WorkingFile is a file of the working tree that differs from HEAD.
type WorkingFile struct {
	Path string
	// Head and HeadMode are the blob and mode in HEAD: "" and 0 for a new file.
	Head     string
	HeadMode uint32
	// Mode is the file's mode: 0 if it was removed.
	Mode uint32
}

// WorkingTree returns the files that differ from HEAD, staged or not, and new files that are not
// ignored, sorted by path. Configured filters (git-lfs) are not run: a file that they change is
// included once its time or size has changed.
func (r *Repo) WorkingTree(ctx context.Context) ([]WorkingFile, error) {
	if r.TopLevel == "" {
		return nil, fmt.Errorf("%s: no working tree: the repository is bare", r.Path)
	}
	quiet, err := r.withoutFilters(ctx)
	if err != nil {
		return nil, err
	}
	cmd := r.command(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=no", "--no-renames", "--ignore-submodules=dirty")
	cmd.Env = append(cmd.Env, quiet...)
	out, err := finish(cmd, "status")
	if err != nil {
		return nil, err
	}
	var files []WorkingFile
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f, ok, err := parseStatus(entry)
		if err != nil {
			return nil, err
		}
		if ok {
			files = append(files, f)
		}
	}
	return files, nil
}

// parseStatus parses one entry of porcelain v2: "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3
// mW h1 h2 h3 path" or "? path".
func parseStatus(entry string) (f WorkingFile, ok bool, err error) {
	bad := fmt.Errorf("git status answers %q", entry)
	if entry == "" {
		return f, false, nil
	}
	mode := func(s string) uint32 {
		m, perr := strconv.ParseUint(s, 8, 32)
		if perr != nil {
			err = bad
		}
		return uint32(m)
	}
	switch entry[0] {
	case '?':
		// The mode is read with the file. A directory is a repository of its own.
		f.Path, f.Mode = strings.TrimPrefix(entry, "? "), ModeFile
		return f, !strings.HasSuffix(f.Path, "/"), nil
	case '1':
		p := strings.SplitN(entry, " ", 9)
		if len(p) != 9 {
			return f, false, bad
		}
		f.Path, f.HeadMode, f.Mode = p[8], mode(p[3]), mode(p[5])
		if f.HeadMode != 0 {
			f.Head = p[6]
		}
		return f, err == nil, err
	case 'u':
		p := strings.SplitN(entry, " ", 11)
		if len(p) != 11 {
			return f, false, bad
		}
		// In a conflict, the second side is that of HEAD.
		f.Path, f.HeadMode, f.Mode = p[10], mode(p[4]), mode(p[6])
		if f.HeadMode != 0 {
			f.Head = p[8]
		}
		return f, err == nil, err
	case '!', '#':
		return f, false, nil
	}
	return f, false, bad
}

// withoutFilters returns settings that remove the commands of every configured filter.
func (r *Repo) withoutFilters(ctx context.Context) ([]string, error) {
	out, err := r.run(ctx, "config", "--null", "--name-only", "--get-regexp", `^filter\.`)
	var ge *Error
	if errors.As(err, &ge) && ge.ExitCode() == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var env []string
	n := 0
	set := func(key, value string) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		filter := key[:max(0, strings.LastIndexByte(key, '.'))]
		if filter == "" || seen[filter] {
			continue
		}
		seen[filter] = true
		set(filter+".clean", "")
		set(filter+".smudge", "")
		set(filter+".process", "")
		set(filter+".required", "false")
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
}

// ErrConverted means that git would store a file's content in a form that is not known here,
// because of a filter or an encoding.
var ErrConverted = errors.New("git stores it in another form")

// ReadWorking reads a file of the working tree in the form in which git would store it: its mode,
// size, object id and, unless it is larger than limit, content. Line endings are converted as the
// repository configures. The content of a link is its target; no link is followed, including in the
// directories above it. The error is fs.ErrNotExist if the file was removed.
func (r *Repo) ReadWorking(ctx context.Context, path string, limit int64) (c Change, content []byte, err error) {
	c.Path = path
	root, err := os.OpenRoot(r.TopLevel)
	if err != nil {
		return c, nil, err
	}
	defer root.Close()
	name := filepath.FromSlash(path)
	st, err := root.Lstat(name)
	if err != nil {
		return c, nil, fmt.Errorf("working tree: %w", err)
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		link, err := root.Readlink(name)
		if err != nil {
			return c, nil, fmt.Errorf("working tree: %w", err)
		}
		c.Mode, content = ModeSymlink, []byte(link)
	case !st.Mode().IsRegular():
		return c, nil, fmt.Errorf("working tree: %s: %w: neither a file nor a link", path, ErrConverted)
	default:
		c.Mode = ModeFile
		if st.Mode()&0o100 != 0 {
			c.Mode = ModeExecutable
		}
		f, err := root.Open(name)
		if err != nil {
			return c, nil, fmt.Errorf("working tree: %w", err)
		}
		defer f.Close()
		if st.Size() > limit {
			c.Size = st.Size()
			c.Blob, err = r.blobID(io.LimitReader(f, c.Size), c.Size)
			return c, nil, err
		}
		if content, err = io.ReadAll(io.LimitReader(f, limit+1)); err != nil {
			return c, nil, fmt.Errorf("working tree: %w", err)
		}
	}
	c.Size = int64(len(content))
	if c.Blob, err = r.blobID(bytes.NewReader(content), c.Size); err != nil {
		return c, nil, err
	}
	if c.Mode == ModeSymlink || !(bytes.Contains(content, []byte("\r\n")) || bytes.Contains(content, []byte("$Id"))) {
		return c, content, nil
	}
	// The content may be converted when it is added: ask git for the resulting id.
	quiet, err := r.withoutFilters(ctx)
	if err != nil {
		return c, nil, err
	}
	cmd := r.command(ctx, "hash-object", "--stdin", "--path="+path)
	cmd.Env, cmd.Stdin = append(cmd.Env, quiet...), bytes.NewReader(content)
	out, err := finish(cmd, "hash-object")
	if err != nil {
		return c, nil, err
	}
	want := strings.TrimSpace(string(out))
	if want == c.Blob {
		return c, content, nil
	}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	c.Size = int64(len(content))
	if c.Blob, err = r.blobID(bytes.NewReader(content), c.Size); err == nil && c.Blob != want {
		c.Blob = want
		return c, nil, fmt.Errorf("working tree: %s: %w", path, ErrConverted)
	}
	return c, content, err
}

// blobID returns git's object id of n bytes of content.
func (r *Repo) blobID(content io.Reader, n int64) (string, error) {
	var h hash.Hash = sha1.New()
	if r.SHA256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", n)
	if got, err := io.Copy(h, content); err != nil || got != n {
		return "", errors.Join(err, errors.New("a file changed while it was read: try again"))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
