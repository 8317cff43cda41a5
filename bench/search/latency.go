package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// quiet is how long nothing must be drawn for a key to be done with.
const quiet = 120 * time.Millisecond

// typed are the texts that are typed, letter by letter.
var typed = []string{"docker image", "kubectl pods serv", "git checkout", "srvc12", "remove old images"}

// measureLatency types in a bash in tmux and prints the times until something was drawn.
func measureLatency(bin string, commands, tries int) (err error) {
	dir, err := os.MkdirTemp("", "search-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	lines := manyCommands(commands)
	w := &world{dir: dir, bin: bin, history: filepath.Join(dir, "bash_history")}
	if err := w.write(lines); err != nil {
		return err
	}
	_, stop, err := w.server()
	if err != nil {
		return err
	}
	fmt.Printf("%d runs of %d commands; p50 (p90, most)\n", len(lines), distinct(lines))
	err = w.measure("with a server", tries)
	stop()
	if err != nil {
		return err
	}
	return w.measure("without a server", min(tries, 7))
}

// manyCommands returns commands of a few forms, most of them once.
func manyCommands(n int) []string {
	forms := []string{
		"git checkout %s", "docker run --rm %s", "docker image prune --filter label=%s", "kubectl get pods -n %s", "make %s", "go test ./%s/...",
		"grep -rn %s src", "rm -rf build/%s", "curl -s http://%s.local/health", "npm run %s", "cargo build --release -p %s", "tar czf %[1]s.tgz %[1]s", "ssh %s uptime",
	}
	r := rand.New(rand.NewPCG(seed, 9))
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(forms[r.IntN(len(forms))], fmt.Sprintf("service%d", r.IntN(n)))
	}
	return lines
}

// measure measures one case.
func (w *world) measure(name string, tries int) error {
	t, err := w.tmux()
	if err != nil {
		return err
	}
	defer t.close()
	var first, list, keys []time.Duration
	for i := range tries {
		if err := t.key("C-r"); err != nil {
			return err
		}
		f, l, err := t.drawn("alt-h keys", 2*time.Minute)
		if err != nil {
			return fmt.Errorf("%s: ctrl-r: %w", name, err)
		}
		for !strings.Contains(t.text(), " commands") { // the list had to wait for the index
			var err error
			if _, l, err = t.drawn("", 2*time.Minute); err != nil {
				return fmt.Errorf("%s: the list: %w", name, err)
			}
		}
		if i == 0 {
			fmt.Printf("%-18s the first list after the start: %s\n", name, ms(l))
		} else {
			first, list = append(first, f), append(list, l)
		}
		for _, c := range typed[i%len(typed)] {
			key := string(c)
			if c == ' ' {
				key = "Space"
			}
			if err := t.key(key); err != nil {
				return err
			}
			_, l, err := t.drawn("", 10*time.Second)
			if err != nil {
				return fmt.Errorf("%s: key %q: %w", name, c, err)
			}
			keys = append(keys, l)
		}
		if err := t.key("C-c"); err != nil {
			return err
		}
		if _, _, err := t.drawn("", 10*time.Second); err != nil {
			return err
		}
	}
	fmt.Printf("%-18s ctrl-r to first paint   %s\n", name, summary(first))
	fmt.Printf("%-18s ctrl-r to the list      %s\n", name, summary(list))
	fmt.Printf("%-18s key to painted results  %s (%d keys)\n", name, summary(keys), len(keys))
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func summary(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	slices.Sort(all)
	return fmt.Sprintf("%s (%s, %s)", ms(all[len(all)/2]), ms(all[len(all)*9/10]), ms(all[len(all)-1]))
}

// terminal is a bash in tmux, which reports what is drawn (control mode).
type terminal struct {
	cmd    *exec.Cmd
	socket string
	in     io.WriteCloser
	output chan chunk
	sent   time.Time
	all    bytes.Buffer
}

// chunk is something drawn, and when.
type chunk struct {
	at   time.Time
	text string
}

// tmux starts it, with the hook and its bindings.
func (w *world) tmux() (*terminal, error) {
	hook, err := w.run(filepath.Join(w.bin, "recount"), "hook", "bash").Output()
	if err != nil {
		return nil, err
	}
	rc := filepath.Join(w.dir, "rc")
	if err := os.WriteFile(rc, append(hook, "\nPS1='$ '\n"...), 0o600); err != nil {
		return nil, err
	}
	t := &terminal{socket: filepath.Join(w.dir, "tmux"), output: make(chan chunk, 1000)}
	t.cmd = w.run("tmux", "-S", t.socket, "-f", "/dev/null", "-C", "new-session", "-x", "80", "-y", "24", "bash", "--rcfile", rc, "-i")
	t.cmd.Env = append(t.cmd.Env, "TERM=xterm-256color", "HISTFILE=")
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(t.output)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "%output "); ok {
				t.output <- chunk{time.Now(), text}
			}
		}
	}()
	t.sent = time.Now()
	_, _, err = t.drawn("$ ", time.Minute)
	return t, err
}

// key presses a key.
func (t *terminal) key(name string) error {
	t.all.Reset()
	t.sent = time.Now()
	_, err := fmt.Fprintf(t.in, "send-keys %s\n", name)
	return err
}

// drawn waits until a text was drawn, "" for anything, and then nothing more. It returns the times
// from the key until the first thing with the text and until the last.
func (t *terminal) drawn(text string, most time.Duration) (first, last time.Duration, err error) {
	deadline := time.After(most)
	for {
		var still <-chan time.Time
		if first > 0 {
			still = time.After(quiet)
		}
		select {
		case c, ok := <-t.output:
			if !ok {
				return 0, 0, errors.New("tmux has ended")
			}
			t.all.WriteString(c.text)
			last = c.at.Sub(t.sent)
			if first == 0 && strings.Contains(t.all.String(), text) {
				first = last
			}
		case <-still:
			return first, last, nil
		case <-deadline:
			return 0, 0, fmt.Errorf("nothing with %q was drawn, but %q", text, t.text())
		}
	}
}

func (t *terminal) text() string { return t.all.String() }

// close ends the terminal.
func (t *terminal) close() {
	_ = exec.Command("tmux", "-S", t.socket, "kill-server").Run()
	go func() {
		for range t.output {
		}
	}()
	_ = t.cmd.Wait()
}
