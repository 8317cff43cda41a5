// Package served starts a server on a data directory of its own, for measurements that ask one.
package served

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/internal/datadir"
)

// Server is a running `recount up`.
type Server struct {
	URL string
	// Dir is a directory for whatever a measurement needs, Home the HOME of its programs, and Data the
	// server's data directory.
	Dir, Home, Data string

	bin string
	up  *exec.Cmd
	log bytes.Buffer
}

// patience is how long a server may take until it answers.
const patience = time.Minute

// Start starts the server whose programs are in a folder. The caller stops it.
func Start(ctx context.Context, bin string) (s *Server, err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "recount-bench-")
	if err != nil {
		return nil, err
	}
	s = &Server{Dir: dir, Home: filepath.Join(dir, "home"), Data: filepath.Join(dir, "data"), bin: bin}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := os.Mkdir(s.Home, 0o700); err != nil {
		return s, err
	}
	s.up = s.Program(ctx, "recount", "up", "--http", "127.0.0.1:0", "--kafka", "none", "--otlp-grpc", "none", "--otlp-http", "none")
	s.up.Stderr = &s.log
	if err := s.up.Start(); err != nil {
		s.up = nil
		return s, err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if at, err := datadir.ReadEndpoints(s.Data); err == nil && at.HTTP != "" {
			s.URL = at.HTTP
			return s, nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return s, fmt.Errorf("recount up is not ready after %v:\n%s", patience, &s.log)
		}
	}
}

// Program returns a program of the folder that asks this server.
func (s *Server) Program(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.Dir, s.Env()
	return cmd
}

// Env is the environment of programs that ask this server.
func (s *Server) Env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Home, "RECOUNT_DATA_DIR=" + s.Data, "GIT_CONFIG_GLOBAL=/dev/null"}
}

// Run runs `recount` with arguments, and returns what it prints in its error.
func (s *Server) Run(ctx context.Context, args ...string) error {
	if out, err := s.Program(ctx, "recount", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("recount %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// PID is the id of the server's process.
func (s *Server) PID() int { return s.up.Process.Pid }

// Stop ends the server and removes its directory.
func (s *Server) Stop() (err error) {
	if s.up != nil {
		_ = s.up.Process.Signal(syscall.SIGTERM)
		err = s.up.Wait()
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}

// Load says how busy the machine is: the load average of the last minute, as /proc/loadavg has it.
func Load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return one
}
