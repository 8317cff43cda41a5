package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// world is the history, and the programs that know it.
type world struct{ dir, bin, history string }

// program ranks commands. rank returns the place of the first wanted one, 0 if it is not among the
// first 100.
type program struct {
	name string
	list func(typed string) ([]string, error)
}

func (p program) rank(typed string, wanted []string) (int, error) {
	list, err := p.list(typed)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, l := range list {
		if l = folded(l); seen[l] {
			continue
		}
		seen[l] = true
		if len(seen) > deep {
			break
		}
		if slices.Contains(wanted, l) {
			return len(seen), nil
		}
	}
	return 0, nil
}

// write writes the history as one of bash, with a time for each line.
func (w *world) write(lines []string) error {
	var b bytes.Buffer
	at := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC).Unix()
	for i, l := range lines {
		fmt.Fprintf(&b, "#%d\n%s\n", at+int64(i)*300, l)
	}
	return os.WriteFile(w.history, b.Bytes(), 0o600)
}

func (w *world) run(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "HOME="+w.dir, "HISTFILE="+w.history, "RECOUNT_DATA_DIR="+filepath.Join(w.dir, "data"), "SHELL=/bin/bash", "ATUIN_SESSION=0", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "RECOUNT_SERVER=")
	cmd.Dir = w.dir
	return cmd
}

// programs starts a server, has the programs read the history, and returns them.
func (w *world) programs(lines []string) (all []program, end func(), err error) {
	url, end, err := w.server()
	if err != nil {
		return nil, nil, err
	}
	for _, mode := range []string{"best", "fuzzy", "meaning"} {
		all = append(all, program{"recount search, " + mode, func(typed string) ([]string, error) { return ask(url, typed, mode) }})
	}
	if atuin, missing := exec.LookPath("atuin"); missing == nil {
		if out, err := w.run(atuin, "import", "bash").CombinedOutput(); err != nil {
			end()
			return nil, nil, fmt.Errorf("atuin import: %w\n%s", err, out)
		}
		atuin := func(typed string) ([]string, error) {
			return found(w.run(atuin, "search", "--search-mode", "fuzzy", "--limit", "1000", "--format", "{command}", "--", typed).Output())
		}
		all = append(all, program{"atuin search, fuzzy", atuin})
		// Where its list begins is not documented: it is read from both ends.
		all = append(all, program{"atuin search, from the end", func(typed string) ([]string, error) {
			list, err := atuin(typed)
			slices.Reverse(list)
			return list, err
		}})
	}
	if fzf, missing := exec.LookPath("fzf"); missing == nil {
		newest := slices.Clone(lines)
		slices.Reverse(newest)
		input := strings.Join(newest, "\n") + "\n"
		for _, scheme := range []string{"default", "history"} {
			all = append(all, program{"fzf --filter, " + scheme, func(typed string) ([]string, error) {
				cmd := w.run(fzf, "--scheme="+scheme, "--filter", typed)
				cmd.Stdin = strings.NewReader(input)
				return found(cmd.Output())
			}})
		}
	}
	return all, end, nil
}

// found splits the lines of a program that exits with 1 if there are none.
func found(out []byte, err error) ([]string, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), err
}

// server imports the history and starts a server.
func (w *world) server() (url string, end func(), err error) {
	recount := filepath.Join(w.bin, "recount")
	if out, err := w.run(recount, "import", "history", "--wait", w.history).CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("recount import: %w\n%s", err, out)
	}
	up := w.run(recount, "up", "--http", "127.0.0.1:0", "--kafka", "none", "--otlp-grpc", "none", "--otlp-http", "none")
	var log bytes.Buffer
	up.Stderr = &log
	if err := up.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = up.Process.Signal(syscall.SIGTERM)
		_ = up.Wait()
	}
	var e struct{ HTTP string }
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(w.dir, "data", "endpoints.json"))
		if err == nil && json.Unmarshal(b, &e) == nil && e.HTTP != "" {
			return strings.TrimSuffix(e.HTTP, "/"), end, nil
		}
		if time.Now().After(deadline) {
			end()
			return "", nil, fmt.Errorf("recount up is not ready after a minute:\n%s", &log)
		}
	}
}

// ask asks the server as the interface does.
func ask(url, typed, mode string) ([]string, error) {
	body, err := json.Marshal(map[string]any{"text": typed, "mode": mode, "limit": deep})
	if err != nil {
		return nil, err
	}
	resp, err := http.Post(url+"/v1/search", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var a struct{ Hits []struct{ Command string } }
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %w", resp.Status, err)
	}
	var list []string
	for _, h := range a.Hits {
		list = append(list, h.Command)
	}
	return list, nil
}
