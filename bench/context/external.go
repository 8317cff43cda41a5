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

//go:embed repomap.py
var repomapProgram string

// repomap is aider's RepoMap in a Python process. Its answers are kept in a folder, because it takes
// seconds a sample.
type repomap struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	keep    string
	mirrors string
}

func startRepomap(ctx context.Context, python, keep, mirrors string) (*repomap, error) {
	r := &repomap{keep: keep, mirrors: mirrors}
	if err := os.MkdirAll(keep, 0o755); err != nil || python == "" {
		return r, err
	}
	r.cmd = exec.CommandContext(ctx, python, "-c", repomapProgram)
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
	file := filepath.Join(r.keep, fmt.Sprintf("%x.json", sha256.Sum256([]byte(s.id()+repomapProgram)))[:24])
	if b, err := os.ReadFile(file); err == nil {
		return paths, true, json.Unmarshal(b, &paths)
	}
	if r.cmd == nil {
		return nil, false, nil
	}
	asked, err := json.Marshal(map[string]string{"git": mirrorOf(r.mirrors, s.repo).dir, "commit": s.base, "given": s.given, "text": s.title + "\n" + s.body})
	if err != nil {
		return nil, false, err
	}
	if _, err := fmt.Fprintf(r.in, "%s\n", asked); err != nil {
		return nil, false, fmt.Errorf("repomap.py: %w", err)
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, false, fmt.Errorf("repomap.py ended: %w", err)
	}
	if err := json.Unmarshal(line, &paths); err != nil {
		return nil, false, err
	}
	return paths, true, os.WriteFile(file, line, 0o600)
}

func (r *repomap) close() error {
	if r.cmd == nil {
		return nil
	}
	return errors.Join(r.in.Close(), r.cmd.Wait())
}
