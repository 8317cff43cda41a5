package recallhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/recountdb/recount/internal/recording"
)

const (
	// Deadline is when the hook gives up waiting for the server, after the program's start. The
	// agent waits for it at each prompt, so it must be well below what a person notices.
	Deadline = 200 * time.Millisecond
	// maxInput limits the agent's message; maxIDs how many ids a session keeps.
	maxInput = 32 << 20
	maxIDs   = 1000
)

// Run is the main function of `recount-record hook run AGENT`: args are what follows "hook". It
// writes at most one JSON object to out. Errors are for the log.
func Run(args []string, in io.Reader, out io.Writer, getenv func(string) string, start time.Time) {
	if len(args) != 2 || args[0] != "run" {
		log(getenv, fmt.Errorf("hook: want run AGENT, got %q", strings.Join(args, " ")))
		return
	}
	message, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		log(getenv, err)
		return
	}
	var c call
	if err := json.Unmarshal(message, &c); err != nil {
		c = call{} // the recorder reports it
	}
	wait, err := record(args[1], message, c.Event == "SessionStart" || c.Event == "UserPromptSubmit" || strings.HasPrefix(string(c.Event), "Post") || c.Event == "AfterTool" || c.Event == "BeforeAgent")
	if err != nil {
		log(getenv, fmt.Errorf("start the recorder: %w", err))
	}
	if err := recall(&c, args[1], out, getenv, start.Add(Deadline)); err != nil && !errors.Is(err, errNone) {
		log(getenv, fmt.Errorf("recall: %w", err))
	}
	wait()
}

// record starts `recount hook run AGENT` with the same input. If apart, nobody waits for it.
func record(agent string, message []byte, apart bool) (wait func(), err error) {
	wait = func() {}
	self, err := os.Executable()
	if err != nil {
		return wait, err
	}
	// A file, and not a pipe, so that the recorder can read it after this program has ended.
	f, err := os.CreateTemp("", "recount-hook-")
	if err != nil {
		return wait, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return wait, err
	}
	if _, err := f.Write(message); err != nil {
		return wait, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return wait, err
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(self), "recount"), "hook", "run", agent)
	cmd.Stdin = f
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: apart}
	if err := cmd.Start(); err != nil {
		return wait, err
	}
	if !apart {
		wait = func() { _ = cmd.Wait() } // it exits with 0 whatever happens
	}
	return wait, nil
}

// recall asks the server about a call and prints its answer.
func recall(c *call, agent string, out io.Writer, getenv func(string) string, deadline time.Time) error {
	workspace := recording.Workspace(string(c.Cwd))
	if workspace == "" {
		workspace = string(c.Cwd)
	}
	q, ok := c.ask(agent, workspace)
	if !ok {
		return nil
	}
	e, err := find(getenv)
	if err != nil {
		return err
	}
	told, err := openTold(getenv, agent, string(c.Session), q.clears)
	if err != nil {
		return err
	}
	q.request["without"] = told.ids
	q.request["now"] = time.Now().UTC().Format(time.RFC3339)
	a, err := e.ask(q, deadline)
	if err != nil || a.Text == "" || time.Now().After(deadline) {
		return err
	}
	// The ids are kept before the text is printed: a crash in between loses a reminder, and does not
	// repeat one.
	for _, x := range a.Items {
		told.ids = append(told.ids, x.ID)
	}
	if err := told.keep(); err != nil {
		return err
	}
	var o output
	o.Specific.Event, o.Specific.Context = string(c.Event), a.Text
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// told is what a session was told: the ids of items, a line each in a file of the state directory.
type told struct {
	path string
	ids  []string
}

func openTold(getenv func(string) string, agent, session string, clears bool) (told, error) {
	base, err := stateDir(getenv)
	if err != nil {
		return told{}, err
	}
	dir := filepath.Join(base, "recount-hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return told{}, err
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	t := told{path: filepath.Join(dir, "told-"+hex.EncodeToString(sum[:12])), ids: []string{}}
	if clears {
		_ = os.Remove(t.path) // there may be none
		return t, nil
	}
	b, err := os.ReadFile(t.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return t, err
	}
	t.ids = append(t.ids, strings.Fields(string(b))...)
	if n := len(t.ids) - maxIDs; n > 0 {
		t.ids = t.ids[n:]
	}
	return t, nil
}

// stateDir returns the directory of temporary state.
func stateDir(getenv func(string) string) (string, error) {
	if base := getenv("XDG_STATE_HOME"); base != "" && filepath.IsAbs(base) {
		return base, nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("no state directory: neither XDG_STATE_HOME nor HOME is set")
	}
	return filepath.Join(home, ".local", "state"), nil
}

// keep writes the ids.
func (t told) keep() error {
	return os.WriteFile(t.path, []byte(strings.Join(t.ids, "\n")+"\n"), 0o600)
}

// log writes to the log of hooks why something was not recalled.
func log(getenv func(string) string, err error) {
	file := getenv("RECOUNT_HOOK_LOG")
	if file == "" {
		base, none := stateDir(getenv)
		if none != nil {
			return
		}
		file = filepath.Join(base, "recount-hook.log")
	}
	f, openErr := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if openErr != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "recount-record: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
}
