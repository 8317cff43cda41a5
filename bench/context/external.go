package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// These programs rank as aider's RepoMap and as that of Agent Retrieval Bench.
var (
	//go:embed repomap.py
	aiderProgram string
	//go:embed authorsmap.py
	authorsProgram string
)

// repomap is a RepoMap in a Python process. Its answers are kept in a folder, because it takes
// seconds a sample.
type repomap struct {
	program string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	keep    string
	mirrors string
}

// startRepomap starts a program with its arguments; without a Python only what is kept is known.
func startRepomap(ctx context.Context, python, program, keep, mirrors string, args ...string) (*repomap, error) {
	r := &repomap{program: program, keep: keep, mirrors: mirrors}
	if err := os.MkdirAll(keep, 0o755); err != nil || python == "" {
		return r, err
	}
	r.cmd = exec.CommandContext(ctx, python, append([]string{"-c", program}, args...)...)
	r.cmd.Stderr = os.Stderr
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 1<<20)
	return r, r.cmd.Start()
}

// rank returns the ranking of a sample, and whether there is one: without Python only samples that
// were ranked before have one.
func (r *repomap) rank(s sample) (paths []string, known bool, err error) {
	file := filepath.Join(r.keep, fmt.Sprintf("%x.json", sha256.Sum256([]byte(s.id()+r.program)))[:24])
	if b, err := os.ReadFile(file); err == nil {
		return paths, true, json.Unmarshal(b, &paths)
	}
	if r.cmd == nil {
		return nil, false, nil
	}
	asked, err := json.Marshal(map[string]string{"git": mirrorOf(r.mirrors, s.repo).dir, "commit": s.base, "given": s.given, "task": s.task, "text": s.title + "\n" + s.body})
	if err != nil {
		return nil, false, err
	}
	if _, err := fmt.Fprintf(r.in, "%s\n", asked); err != nil {
		return nil, false, fmt.Errorf("RepoMap: %w", err)
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, false, fmt.Errorf("RepoMap ended: %w", err)
	}
	if err := json.Unmarshal(line, &paths); err != nil {
		return nil, false, err
	}
	return paths, true, os.WriteFile(file, line, 0o600)
}

func (r *repomap) system(name string) system {
	return system{name, func(_ context.Context, q question) ([]string, bool, error) { return r.rank(q.sample) }}
}

func (r *repomap) close() error {
	if r.cmd == nil {
		return nil
	}
	return errors.Join(r.in.Close(), r.cmd.Wait())
}
