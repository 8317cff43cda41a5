package connect

import (
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
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

const (
	// servePatience is how long a server that is started may take until it answers.
	servePatience = time.Minute
	// UpWait is how long up waits for a data directory that a verb has open. A search gives it back a
	// second after its last question.
	UpWait = 10 * time.Second
	// stopPatience is how long a server may take to stop.
	stopPatience = time.Minute
	// serveLog is the file in the data directory with what a server started by Serve reports.
	serveLog = "up.log"
)

// Serve returns the endpoints of the server of the data directory. If there is none, it starts one,
// with the settings of the config file, that goes on after this process, and reports that.
func (con *Connector) Serve(ctx context.Context, cfg node.Config) (e node.Endpoints, started bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(servePatience, con.Patience))
	defer cancel()
	var died chan error
	pause := time.NewTicker(firstPause)
	defer pause.Stop()
	for {
		e, running, err := datadir.Running(cfg.DataDir)
		if err != nil {
			return e, started, err
		}
		if running && e.HTTP != "" {
			_, err := con.Client(ctx, cfg, e)
			var busy *node.InUseError
			if err == nil || !errors.As(err, &busy) {
				return e, started, err
			}
		}
		if !running && !started {
			if died, err = con.startServer(cfg); err != nil {
				return e, false, err
			}
			started = true
		}
		select {
		case err := <-died:
			return e, started, err
		case <-ctx.Done():
			return e, started, fmt.Errorf("no server on %s after %s: %w", cfg.DataDir, query.Took(servePatience), &node.InUseError{Dir: cfg.DataDir, PID: e.PID})
		case <-pause.C:
		}
	}
}

// OpenServer opens the node of a server. If another process uses the data directory and is no server,
// it waits for up to wait, and says so.
func (con *Connector) OpenServer(ctx context.Context, cfg node.Config, wait time.Duration) (*node.Node, error) {
	deadline := time.Now().Add(wait)
	said := time.Now().Add(con.Silence)
	for pause := firstPause; ; pause = min(2*pause, LongPause) {
		n, err := node.Open(ctx, cfg)
		var busy *node.InUseError
		if err == nil || !errors.As(err, &busy) || time.Now().Add(pause).After(deadline) || con.served(ctx, cfg) {
			return n, err
		}
		if time.Now().After(said) {
			said = deadline // report only once
			con.Tell(holder(&node.InUseError{Dir: busy.Dir}))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// served reports whether a server uses the data directory. The endpoints of one that crashed prove
// nothing.
func (con *Connector) served(ctx context.Context, cfg node.Config) bool {
	e, running, err := datadir.Running(cfg.DataDir)
	if err != nil || !running || e.HTTP == "" {
		return false
	}
	_, err = con.Client(ctx, cfg, e)
	var busy *node.InUseError
	return !errors.As(err, &busy)
}

// startServer starts `recount up` as an independent process. died receives why it ended.
func (con *Connector) startServer(cfg node.Config) (died chan error, err error) {
	bin, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	path := filepath.Join(cfg.DataDir, serveLog)
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"up", "--data-dir", cfg.DataDir}
	if con.Config != "" {
		args = append(args, "--config", con.Config)
	}
	child := exec.Command(bin, args...)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	child.Stderr = log
	if err := child.Start(); err != nil {
		return nil, err
	}
	died = make(chan error, 1)
	go func() { // it ends with the child, or with this process
		err := child.Wait()
		b, _ := os.ReadFile(path)
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		died <- fmt.Errorf("the server that was started for this ended: %w: %s; start recount up yourself with the flags that it needs, or put the settings into the config file", err, strings.TrimPrefix(lines[len(lines)-1], "recount: "))
	}()
	return died, nil
}

// StopServer stops the server of the data directory and returns its process id, 0 if there is none.
func (con *Connector) StopServer(ctx context.Context, cfg node.Config) (pid int, err error) {
	e, running, err := datadir.Running(cfg.DataDir)
	if err != nil || !running {
		return 0, err
	}
	// The server says itself which process it is: the file may be of one that crashed.
	c, err := con.Client(ctx, cfg, e)
	if err != nil {
		return 0, err
	}
	st, err := c.Status(ctx, api.StatusRequest{})
	if err != nil {
		return 0, err
	}
	if st.PID != e.PID {
		return 0, fmt.Errorf("the server at %s is process %d, not %d as %s says", e.HTTP, st.PID, e.PID, datadir.EndpointsFile)
	}
	if err := syscall.Kill(e.PID, syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("stop process %d: %w", e.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, max(stopPatience, con.Patience))
	defer cancel()
	for {
		f, err := datadir.Lock(cfg.DataDir) // the server holds it to its end
		if err == nil {
			return e.PID, f.Close()
		}
		if !errors.Is(err, datadir.ErrInUse) {
			return e.PID, err
		}
		select {
		case <-ctx.Done():
			return e.PID, fmt.Errorf("process %d has not stopped after %s", e.PID, query.Took(stopPatience))
		case <-time.After(LongPause):
		}
	}
}
