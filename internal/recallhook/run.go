package recallhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/internal/hookinput"
	"github.com/recountdb/recount/internal/recording"
)

const (
	// Deadline is when the hook gives up waiting for the server, after the program's start. The
	// agent waits for it at each prompt, so it must be well below what a person notices.
	Deadline = 130 * time.Millisecond
	// Limit is when the program ends whatever it is doing. What remains until 250 ms is for a machine
	// that is so busy that the program runs late: at a load of 17 on two cores it was 80 ms late.
	Limit = 170 * time.Millisecond
	// grace is how long the program goes on at the limit if the recorder is not started yet, or if
	// the message was complete only then.
	grace = 20 * time.Millisecond
	// recorderNice is the recorder's priority.
	recorderNice = 5
	// maxInput limits the agent's message; maxIDs how many ids a session keeps.
	maxInput = 32 << 20
	maxIDs   = 1000
)

// hook is one call of the hook. What it needs of the world are functions, so that tests have a world
// of their own.
type hook struct {
	agent  string
	out    io.Writer
	getenv func(string) string
	// at returns a channel that is closed or receives at a time.
	at func(time.Time) <-chan time.Time
	// dial connects to a server; it need not heed the deadline.
	dial func(address string, deadline time.Time) (net.Conn, error)
	// record starts the recorder with a message. ended is closed when it has ended.
	record func(agent string, message []byte) (ended <-chan struct{}, err error)
	// release lets go of what the agent waits for besides the program's end, before the recorder is
	// started.
	release func()
}

// Run is the main function of `recount-record hook run AGENT`: args are what follows "hook". It
// writes at most one JSON object to out. Errors are for the log. Start is when the program was
// started. Run ends the process at Limit after start, or soon after the agent has written its message
// if that is later, with exit code 0.
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
	limit := start.Add(Limit)
	if soon := time.Now().Add(grace); soon.After(limit) {
		limit = soon
	}
	h := hook{
		agent: args[1], out: out, getenv: getenv, record: record, release: release,
		at: func(t time.Time) <-chan time.Time { return time.After(time.Until(t)) },
		dial: func(address string, deadline time.Time) (net.Conn, error) {
			return net.DialTimeout("tcp", address, max(time.Until(deadline), time.Nanosecond))
		},
	}
	recorder := h.recorder(message)
	time.AfterFunc(time.Until(limit), func() {
		h.last(recorder)
		os.Exit(0)
	})
	h.run(message, recorder, start.Add(Deadline), limit)
}

// recorder returns a function that starts the recorder when it is first called.
func (h *hook) recorder(message []byte) func() (<-chan struct{}, error) {
	return sync.OnceValues(func() (<-chan struct{}, error) {
		h.release()
		return h.record(h.agent, message)
	})
}

// last returns when the recorder is started, or after a moment. A process that is being started then
// goes on without this one.
func (h *hook) last(recorder func() (<-chan struct{}, error)) {
	started := make(chan struct{})
	go func() {
		_, _ = recorder() // who called it first logs the error
		close(started)
	}()
	select {
	case <-started:
	case <-h.at(time.Now().Add(grace)):
	}
}

// release closes the standard output and the standard error. A process that is being started holds
// copies of them until it runs its own program, which takes long on a busy machine, and the agent
// reads them to their end.
func release() {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer null.Close()
	for _, fd := range []int{1, 2} {
		_ = unix.Dup2(int(null.Fd()), fd) // the agent waits a little longer
	}
}

// run recalls what bears on a message until the deadline, prints it, and has the message recorded:
// the recorder is large, and would take the processor from the server while that looks up the
// answer. It returns at the limit at the latest, unless the disk or the agent's pipe hangs.
func (h *hook) run(message []byte, recorder func() (<-chan struct{}, error), deadline, limit time.Time) {
	m, _ := hookinput.Parse(message) // what is wrong with it, the recorder reports
	if err := h.remind(&m, deadline); err != nil && !errors.Is(err, errNone) {
		log(h.getenv, fmt.Errorf("recall: %w", err))
	}
	ended, err := recorder()
	if err != nil {
		log(h.getenv, fmt.Errorf("start the recorder: %w", err))
		return
	}
	if !isOver(&m) {
		select {
		case <-ended:
		case <-h.at(limit):
		}
	}
}

// record starts `recount hook run AGENT` with the same input. It goes on when this program has
// ended.
func record(agent string, message []byte) (<-chan struct{}, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// A file, and not a pipe, so that the recorder can read it after this program has ended.
	f, err := os.CreateTemp("", "recount-hook-")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	if _, err := f.Write(message); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(filepath.Dir(self), "recount"), "hook", "run", agent)
	cmd.Stdin = f
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// It is large, and nobody waits for it for long: what the agent does next goes first.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, recorderNice)
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it exits with 0 whatever happens
		close(ended)
	}()
	return ended, nil
}

// recalled is an answer, and the items that the session got before.
type recalled struct {
	answer
	shown shownItems
	err   error
}

// remind asks the server about a message and prints its answer. Nobody waits for an answer that is
// not there at the deadline, whatever it hangs in.
func (h *hook) remind(m *hookinput.Message, deadline time.Time) error {
	workspace := recording.MemoryWorkspace(string(m.Cwd))
	if workspace == "" {
		workspace = string(m.Cwd)
	}
	q, ok := questionOf(m, h.agent, workspace)
	if !ok {
		return nil
	}
	over := h.at(deadline)
	got := make(chan recalled, 1)
	go func() { got <- h.recall(m, q, deadline) }()
	var r recalled
	select {
	case <-over:
		return errors.New("the server did not answer in time")
	case r = <-got:
	}
	if r.err != nil || r.Text == "" {
		return r.err
	}
	// The ids are kept before the text is printed: a crash in between loses a reminder, and does not
	// repeat one.
	for _, x := range r.Items {
		r.shown.ids = append(r.shown.ids, x.ID)
	}
	if err := r.shown.keep(); err != nil {
		return err
	}
	var o output
	o.Specific.Event, o.Specific.Context = string(m.Event), r.Text
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = h.out.Write(append(b, '\n'))
	return err
}

// recall asks the server. It prints and keeps nothing, so that it may be abandoned.
func (h *hook) recall(m *hookinput.Message, q question, deadline time.Time) (r recalled) {
	e, err := find(h.getenv)
	if err != nil {
		return recalled{err: err}
	}
	if r.shown, r.err = openShown(h.getenv, h.agent, string(m.Session), q.clears); r.err != nil {
		return r
	}
	q.request["without"] = r.shown.ids
	q.request["now"] = time.Now().UTC().Format(time.RFC3339)
	r.answer, r.err = e.ask(h.dial, q, deadline)
	return r
}

// shownItems are the items that a session got: their ids, a line each in a file of the state directory.
type shownItems struct {
	path string
	ids  []string
}

func openShown(getenv func(string) string, agent, session string, clears bool) (shownItems, error) {
	base, err := stateDir(getenv)
	if err != nil {
		return shownItems{}, err
	}
	dir := filepath.Join(base, "recount-hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return shownItems{}, err
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	t := shownItems{path: filepath.Join(dir, "told-"+hex.EncodeToString(sum[:12])), ids: []string{}}
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
func (t shownItems) keep() error {
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
