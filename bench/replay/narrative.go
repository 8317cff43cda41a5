package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/recountdb/recount/query/commands"
)

// narrative is one file of narratives.
type narrative struct {
	name, title, goal, setup string
	steps                    []step
}

type step struct {
	mark byte
	text string
}

// read reads a narrative: a title, a goal (session, last or mend), what is there before (not
// recorded), and steps, each with its mark, or "*" where nobody marked it; "| " continues a step.
func read(file string) (n narrative, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return n, err
	}
	n.name = strings.TrimSuffix(filepath.Base(file), ".txt")
	part := ""
	for i, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "title: "):
			n.title = line[7:]
		case strings.HasPrefix(line, "goal: "):
			n.goal = line[6:]
		case line == "setup:" || line == "steps:":
			part = line
		case part == "setup:" && strings.HasPrefix(line, "| "):
			n.setup += line[2:] + "\n"
		case part == "setup:" && line == "|":
			n.setup += "\n"
		case part == "steps:" && len(line) > 1 && strings.IndexByte("+-*", line[0]) >= 0 && line[1] == ' ':
			n.steps = append(n.steps, step{line[0], line[2:]})
		case part == "steps:" && strings.HasPrefix(line, "| ") && len(n.steps) > 0:
			n.steps[len(n.steps)-1].text += "\n" + line[2:]
		case part == "steps:" && line == "|" && len(n.steps) > 0:
			n.steps[len(n.steps)-1].text += "\n"
		default:
			return n, fmt.Errorf("%s:%d: %q: want a step with its mark", file, i+1, line)
		}
	}
	return n, nil
}

// recorded is a narrative that was typed into a shell.
type recorded struct {
	n          narrative
	root, home string
	env        []string
	hits       []commands.Hit
}

// environment returns the environment of a user of a narrative.
func environment(root, user string) []string {
	home := filepath.Join(root, "home", user)
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USER=" + user, "LOGNAME=" + user, "TERM=dumb", "LC_ALL=C.UTF-8", "PS1=", "SHELL=/bin/bash",
		"PYENV_ROOT=" + os.Getenv("PYENV_ROOT"), "PYENV_VERSION=" + os.Getenv("PYENV_VERSION"), "PYTHONDONTWRITEBYTECODE=1",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "GIT_EDITOR=true",
		// A proxy of rustup looks for its toolchains below the home, which is another one here.
		"RUSTUP_HOME=" + cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(os.Getenv("HOME"), ".rustup")),
		"HISTFILE=" + filepath.Join(root, "history-"+user), "RECOUNT_DATA_DIR=" + filepath.Join(root, "data"), "XDG_STATE_HOME=" + filepath.Join(root, "state"),
	}
}

// place makes a user's home with a project in it, and what is there before the narrative.
func place(n narrative, root, user string) (home string, env []string, err error) {
	home = filepath.Join(root, "home", user)
	if err := os.MkdirAll(filepath.Join(home, "project"), 0o755); err != nil {
		return "", nil, err
	}
	env = environment(root, user)
	if n.setup != "" {
		c := exec.Command("bash", "-ec", n.setup)
		c.Dir, c.Env = filepath.Join(home, "project"), env
		if out, err := c.CombinedOutput(); err != nil {
			return "", nil, fmt.Errorf("%s: setup: %w\n%s", n.name, err, out)
		}
	}
	return home, env, nil
}

// typed types the steps of a narrative into an interactive bash in the project of a home, after a first line, and
// returns what the shell printed. People pause between lines; without that, what two lines write can have the same
// time to the tick, and make takes the older one for the newer. A tab is typed as one, as in what is pasted.
func (n narrative) typed(home string, env []string, first string) string {
	in := " bind 'set disable-completion on'\n" + first
	for _, s := range n.steps {
		in += s.text + "\n"
	}
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir, shell.Env, shell.Stdin = filepath.Join(home, "project"), env, strings.NewReader(in+"exit\n")
	out, _ := shell.CombinedOutput() // its exit code is that of the last command
	return string(out)
}

// record types a narrative into an interactive bash with the hook.
func record(n narrative, root string) (*recorded, error) {
	home, env, err := place(n, root, "alice")
	if err != nil {
		return nil, err
	}
	r := &recorded{n: n, root: root, home: home, env: env}
	program, err := filepath.Abs(*bin)
	if err != nil {
		return nil, err
	}
	hook := exec.Command(program, "hook", "bash")
	hook.Env = env
	script, err := hook.Output()
	if err != nil {
		return nil, fmt.Errorf("recount hook bash: %w", err)
	}
	rc := filepath.Join(root, "hook")
	if err := os.WriteFile(rc, script, 0o600); err != nil {
		return nil, err
	}
	out := n.typed(home, env, fmt.Sprintf(" . %s; PROMPT_COMMAND+=('sleep 0.05')\n", rc))
	// The recorder of the shell outlives it for a moment.
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if r.hits, err = r.all(); err == nil && len(r.hits) >= len(n.steps) || time.Now().After(until) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	// The line that loads the hook is not recorded; exit may be.
	if len(r.hits) == len(n.steps)+1 && r.hits[len(r.hits)-1].Command == "exit" {
		r.hits = r.hits[:len(n.steps)]
	}
	if len(r.hits) != len(n.steps) {
		var got []string
		for _, h := range r.hits {
			got = append(got, oneLine(h.Command))
		}
		return nil, fmt.Errorf("%d commands were recorded of %d:\n    %s\n%s", len(r.hits), len(n.steps), strings.Join(got, "\n    "), out)
	}
	return r, nil
}
