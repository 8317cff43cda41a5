package execute

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/recountdb/recount/internal/render"
)

// runChild runs the command to its end. It fails only if the command could not start.
func runChild(t *render.Terminal, args []string, out io.Writer, keepOutput bool) (code int, err error) {
	child := exec.Command(args[0], args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = t.In, t.Stdout(), t.Err
	if keepOutput {
		child.Stdout, child.Stderr = io.MultiWriter(t.Out, out), io.MultiWriter(t.Err, out)
	}
	// The terminal sends its signals to the whole foreground group, which includes the child;
	// passing these on would deliver them twice. All others are passed on.
	signals := make(chan os.Signal, 16)
	passed := []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT, syscall.SIGQUIT}
	signal.Notify(signals, passed...)
	defer signal.Stop(signals)
	stdin, isFile := t.In.(*os.File)
	fromTerminal := isFile && term.IsTerminal(int(stdin.Fd()))

	if err := child.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return 127, err
		}
		return 126, err
	}
	ended := make(chan struct{})
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case s := <-signals:
				if fromTerminal && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
					continue
				}
				_ = child.Process.Signal(s) // fails if the child has ended already
			case <-ended:
				return
			}
		}
	})
	err = child.Wait()
	close(ended)
	passing.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	if ws, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return child.ProcessState.ExitCode(), nil
}
