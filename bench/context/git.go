package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// mirror is a git directory without a work tree, in the folder given with -mirrors.
type mirror struct{ dir string }

func mirrorOf(dir, repo string) mirror {
	return mirror{filepath.Join(dir, strings.ReplaceAll(repo, "/", "+"), "repo")}
}

// out returns what a git command prints.
func (m mirror) out(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", m.dir, "-c", "core.quotePath=off"}, args...)...)
	b, err := cmd.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%s", strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("git %s in %s: %w", args[0], m.dir, err)
	}
	return string(b), nil
}

func (m mirror) has(ctx context.Context, commit string) bool {
	_, err := m.out(ctx, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// blob is a file of a commit's tree.
type blob struct{ path, id string }

// tree lists the regular files of a commit, ordered by path.
func (m mirror) tree(ctx context.Context, commit string) (all []blob, err error) {
	out, err := m.out(ctx, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 && strings.HasPrefix(fields[0], "100") {
			all = append(all, blob{path, fields[2]})
		}
	}
	return all, nil
}

// contents calls each with the content of each blob, in order.
func (m mirror) contents(ctx context.Context, ids []string, each func(id string, content []byte)) error {
	r, err := m.reader(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		content, err := r.read(id)
		if err != nil {
			return errors.Join(err, r.close())
		}
		if content != nil {
			each(id, content)
		}
	}
	return r.close()
}

// reader is a git process that reads blobs.
type reader struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (m mirror) reader(ctx context.Context) (*reader, error) {
	r := &reader{cmd: exec.CommandContext(ctx, "git", "-C", m.dir, "cat-file", "--batch")}
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 1<<18)
	return r, r.cmd.Start()
}

// read returns the content of a blob, nil if the mirror lacks it.
func (r *reader) read(id string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := fmt.Fprintln(r.in, id); err != nil {
		return nil, err
	}
	head, err := r.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return nil, nil
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, err
	}
	content := make([]byte, size+1)
	_, err = io.ReadFull(r.out, content)
	return content[:size], err
}

func (r *reader) close() error { return errors.Join(r.in.Close(), r.cmd.Wait()) }
