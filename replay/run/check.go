package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// satisfied reports whether all postconditions of a step hold, and by which checks. A step whose input this
// run has changed is not: what it left was made of another one. What it left may
// have been replaced by a later step of the plan: then that step has to be satisfied, and every step
// that uses what this one left, since it would otherwise read what the later one left. known has the
// answers about steps that one decision has asked for already: one no among them decides.
func (r *runner) satisfied(ctx context.Context, i int, known map[int]verdict) ([]string, bool, error) {
	s := &r.plan.Steps[i]
	if held, ok := known[i]; ok || len(s.Post) == 0 {
		// Steps may rest on each other's being done: a build on what ran it, which was replaced with it.
		// One that is being decided counts as done: if it is not, neither is any that asked about it.
		return nil, ok && held != no, nil
	}
	known[i] = open
	if used, err := r.stateUsed(ctx, s, known); err != nil || used {
		known[i] = no
		return nil, false, err
	}
	if r.inputChanged(s) || r.patternTakes(s) {
		known[i] = no
		return nil, false, nil
	}
	if held, err := r.isSettled(ctx, s, known); err != nil || held {
		known[i] = yes
		return []string{settledText}, held, err
	}
	if s.Background {
		if held, err := r.unneeded(ctx, s, known); err != nil || held {
			known[i] = yes
			return []string{"nothing that needs it has to run"}, held, err
		}
	}
	var checks []string
	for _, p := range s.Post {
		if r.madeEarlier(s, p) {
			known[i] = no
			return nil, false, nil
		}
		text, held, err := r.holds(ctx, s, p)
		if err != nil {
			return nil, false, err
		}
		if !held && p.ReplacedBy != nil && !(p.Kind == replay.PostAbsent && r.leftBelow(s, p.Target)) {
			if held, err = r.replaced(ctx, i, *p.ReplacedBy, known); err != nil {
				return nil, false, err
			}
			if held && p.Kind == replay.PostStaged { // there may be a commit with the same message
				if held, err = r.undisturbed(ctx, s, known, false); err != nil {
					return nil, false, err
				}
			}
			text = fmt.Sprintf("step %d, which replaces %s, is done", *p.ReplacedBy+1, p.Target)
		}
		if p.Kind == replay.PostQuiet {
			if held, err = r.undisturbed(ctx, s, known, false); err != nil {
				return nil, false, err
			}
			held = held && !r.endsWhatRan(s)
			text = "its last replay changed no file, and all that it needs is as it was"
		}
		if !held {
			known[i] = no
			return nil, false, nil
		}
		checks = append(checks, text)
	}
	known[i] = yes
	return checks, true, nil
}

// endsWhatRan reports whether a step ends what one that ran in this run has started.
func (r *runner) endsWhatRan(s *replay.Step) bool {
	return slices.ContainsFunc(r.plan.Steps[:s.Index], func(before replay.Step) bool {
		if before.EndedBy == nil || *before.EndedBy != s.Index {
			return false
		}
		o := r.outcomeOf(before.Index)
		return o != nil && o.Status != Skipped
	})
}

// stateUsed reports whether a step changes its shell for a later one that has to run.
func (r *runner) stateUsed(ctx context.Context, s *replay.Step, known map[int]verdict) (bool, error) {
	if len(s.Sets) == 0 {
		return false, nil
	}
	for j := s.Index + 1; j < len(r.plan.Steps); j++ {
		for _, n := range r.plan.Steps[j].Needs {
			if n.On != s.Index || n.Kind != replay.NeedEnvironment {
				continue
			}
			if _, held, err := r.satisfied(ctx, j, known); err != nil || !held {
				return true, err
			}
		}
	}
	return false, nil
}

// verdict is what is known about a step while one decision is made; open is about one that the decision
// is still asking about.
type verdict int

const (
	no verdict = iota
	yes
	open
)

// unneeded reports whether a step that leaves a process running is there only for others, none of which has
// to run, or was ended by one of them and left nothing that is not there.
func (r *runner) unneeded(ctx context.Context, s *replay.Step, known map[int]verdict) (bool, error) {
	if slices.ContainsFunc(s.Why, func(w replay.Reason) bool { return w.Kind != "needed" }) {
		if over, err := r.isOver(ctx, s, known); err != nil || !over {
			return false, err
		}
	}
	needed := false
	for j := s.Index + 1; j < len(r.plan.Steps); j++ {
		for _, n := range r.plan.Steps[j].Needs {
			if n.On != s.Index || n.Kind == replay.NeedOrder {
				continue
			}
			needed = true
			if len(r.plan.Steps[j].Sets) > 0 {
				// It only notes something about it, for others that count themselves.
				if used, err := r.stateUsed(ctx, &r.plan.Steps[j], known); err != nil || used {
					return false, err
				}
				continue
			}
			if _, held, err := r.satisfied(ctx, j, known); err != nil || !held {
				return false, err
			}
		}
	}
	return needed, nil
}

// undisturbed reports whether no step that one needs has run or has to. A step that is being decided
// counts as one that need not: if it has to run after all, the one that needs it is decided after that. Services
// count unless apart is set.
func (r *runner) undisturbed(ctx context.Context, s *replay.Step, known map[int]verdict, apart bool) (bool, error) {
	for _, n := range s.Needs {
		before := &r.plan.Steps[n.On]
		if n.Kind == replay.NeedOrder || apart && r.isService(s, n) || len(before.Sets) > 0 || known[n.On] == open {
			continue
		}
		if o := r.outcomeOf(n.On); o != nil {
			if o.Status != Skipped {
				return false, nil
			}
			continue
		}
		if _, held, err := r.satisfied(ctx, n.On, known); err != nil || !held {
			return false, err
		}
	}
	return true, nil
}

// isService reports whether what a step needs is a service, or what one may have written that still ran then.
func (r *runner) isService(s *replay.Step, n replay.Need) bool {
	before := &r.plan.Steps[n.On]
	return n.Kind == replay.NeedService ||
		n.Kind == replay.NeedDirectory && before.Background && (before.EndedBy == nil || *before.EndedBy >= s.Index)
}

// replaced reports whether the step that replaces what step i left is satisfied, and so is every other
// one that needs step i.
func (r *runner) replaced(ctx context.Context, i, by int, known map[int]verdict) (bool, error) {
	if _, held, err := r.satisfied(ctx, by, known); err != nil || !held {
		return false, err
	}
	for j := i + 1; j < len(r.plan.Steps); j++ {
		for _, n := range r.plan.Steps[j].Needs {
			if n.On != i || n.Kind == replay.NeedOrder || j == by {
				continue
			}
			if _, held, err := r.satisfied(ctx, j, known); err != nil || !held {
				return false, err
			}
		}
	}
	return true, nil
}

// check is how a postcondition is found out: a command that succeeds, and a sentence.
type check struct {
	args []string
	text string
	// accept looks at what the command printed, if exit code 0 is not enough.
	accept func(output string) bool
}

// holds reports whether a postcondition holds where the step would run. What can't be checked, such
// as a file whose content is not known, does not.
func (r *runner) holds(ctx context.Context, s *replay.Step, p replay.Postcondition) (string, bool, error) {
	c, ok := checkOf(p)
	if !ok {
		return "", false, nil
	}
	command := r.command(s)
	command.Args, command.Timeout, command.Grace = c.args, checkTimeout, time.Second
	res, err := r.Executor.Run(ctx, command)
	switch {
	case errors.Is(err, sandbox.ErrNoDir), errors.Is(err, sandbox.ErrNoProgram):
		return "", false, nil // there is nothing that could be asked
	case err != nil:
		return "", false, fmt.Errorf("check whether step %d is done: %w", s.Index+1, err)
	}
	held := res.Exit == 0 && !res.TimedOut && (c.accept == nil || c.accept(res.Output))
	return c.text, held, nil
}

// checkTimeout bounds a check; asking a package manager can take seconds.
const checkTimeout = 30 * time.Second

// checkOf returns the check for a postcondition, if there is one.
func checkOf(p replay.Postcondition) (check, bool) {
	shell := func(script string) []string { return []string{"sh", "-c", script, "sh", p.Target} }
	switch p.Kind {
	case replay.PostFile:
		if p.Hash == "" {
			return check{}, false
		}
		return check{
			shell(`test -f "$1" && ! test -L "$1" && { sha256sum < "$1" || shasum -a 256 < "$1"; } 2>/dev/null`), p.Target + " has the content that its last run left",
			func(out string) bool { return strings.HasPrefix(out, strings.ToLower(p.Hash)) },
		}, true
	case replay.PostDirectory:
		return check{args: shell(`test -d "$1" && ! test -L "$1"`), text: "the directory " + p.Target + " exists"}, true
	case replay.PostAbsent:
		return check{args: shell(`! test -e "$1" && ! test -L "$1"`), text: p.Target + " does not exist"}, true
	case replay.PostPackage:
		return packageCheck(p)
	case replay.PostCommit:
		if p.Hash != "" {
			return check{args: []string{"git", "merge-base", "--is-ancestor", p.Hash, "HEAD"}, text: "the commit " + p.Hash + " is an ancestor of HEAD"}, true
		}
		subject, _, _ := strings.Cut(strings.TrimSpace(p.Target), "\n")
		return check{
			[]string{"git", "log", "--format=%s", "--max-count=1000", "HEAD"},
			fmt.Sprintf("a commit %q is an ancestor of HEAD", subject),
			hasLine(subject),
		}, subject != ""
	case replay.PostBranch:
		return check{args: []string{"git", "show-ref", "--verify", "--quiet", "refs/heads/" + p.Target}, text: "the branch " + p.Target + " exists"}, true
	case replay.PostTag:
		return check{args: []string{"git", "show-ref", "--verify", "--quiet", "refs/tags/" + p.Target}, text: "the tag " + p.Target + " exists"}, true
	case replay.PostNoBranch:
		return check{args: shell(`git rev-parse --git-dir >/dev/null && ! git show-ref --verify --quiet "refs/heads/$1"`), text: "there is no branch " + p.Target}, true
	case replay.PostNoTag:
		return check{args: shell(`git rev-parse --git-dir >/dev/null && ! git show-ref --verify --quiet "refs/tags/$1"`), text: "there is no tag " + p.Target}, true
	case replay.PostLink:
		// The command's shell has put the home where a tilde was.
		args := []string{"sh", "-c", `to=$2; case $to in "~/"*) to=$HOME/${to#??} ;; esac; test "$(readlink "$1")" = "$to"`, "sh", p.Target, p.Hash}
		return check{args: args, text: p.Target + " is a link to " + p.Hash}, p.Hash != ""
	case replay.PostMode:
		args := []string{"sh", "-c", `test -n "$(find "$1" -prune -perm "$2" 2>/dev/null)"`, "sh", p.Target, p.Hash}
		return check{args: args, text: p.Target + " has the permissions " + strings.TrimPrefix(p.Hash, "-")}, p.Hash != ""
	case replay.PostPicked:
		return check{args: shell(`out=$(git cherry HEAD "$1" "$1~1") && case $out in +*) exit 1 ;; esac`), text: "the change of " + p.Target + " is in the history of HEAD"}, true
	case replay.PostStaged:
		return check{args: shell(`
			if test -d "$1"; then cd "$1"; else git ls-files --error-unmatch -- "$1" >/dev/null; fi &&
				left=$(git ls-files --others --modified --deleted --exclude-standard -- "$1") && test -z "$left"`), text: "git has nothing of " + p.Target + " to add"}, true
	case replay.PostSetting:
		key, value, ok := strings.Cut(p.Target, "=")
		args := []string{"sh", "-c", `value=$(git config --local --get "$1") && test "$value" = "$2"`, "sh", key, value}
		return check{args: args, text: "git config has " + p.Target}, ok
	case replay.PostHead:
		// Without an index nothing of it has been checked out: git clone --no-checkout.
		return check{args: shell(`test "$(git symbolic-ref --short -q HEAD)" = "$1" && test -f "$(git rev-parse --git-path index)"`), text: "HEAD is the branch " + p.Target}, true
	case replay.PostImage:
		engine := cmp.Or(p.Manager, "docker")
		return check{args: []string{engine, "image", "inspect", p.Target}, text: "the image " + p.Target + " is there"}, true
	case replay.PostPort:
		host, port, err := net.SplitHostPort(p.Target)
		if err != nil {
			host, port = "127.0.0.1", strings.TrimPrefix(p.Target, ":")
		}
		host = cmp.Or(host, "127.0.0.1")
		return check{args: []string{"bash", "-c", answers, "bash", host, port}, text: "port " + port + " answers"}, true
	}
	return check{}, false
}

// answers asks whether a port answers, without a connection to it where the kernel lists the sockets that listen: a
// service may count its connections, or end after the first.
const answers = `
	case $1 in 127.*|localhost|::1) if test -r /proc/net/tcp; then
		printf -v listens ' [0-9A-F]+:%04X [0-9A-F]+:0000 0A ' "$2"
		cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -Eq "$listens"; exit
	fi ;; esac
	exec 3<>"/dev/tcp/$1/$2"`

// packageCheck asks the program that installs a package whether it has it. Version is what follows
// == or @ in the target.
func packageCheck(p replay.Postcondition) (check, bool) {
	name, version, _ := strings.Cut(p.Target, "==")
	text := fmt.Sprintf("%s has %s", p.Manager, p.Target)
	switch p.Manager {
	case "pip", "pip3", "pipx", "uv":
		return check{[]string{"python3", "-m", "pip", "show", "--disable-pip-version-check", name}, text, func(out string) bool {
			return version == "" || hasLine("Version: "+version)(out)
		}}, true
	case "npm", "pnpm", "yarn":
		args := []string{"npm", "ls", "--depth=0", "--", p.Target}
		return check{args: args, text: text}, true
	case "apt", "apt-get", "dpkg":
		name, version, _ := strings.Cut(p.Target, "=")
		return check{[]string{"dpkg-query", "-W", "-f=${db:Status-Status} ${Version}\n", name}, text, func(out string) bool {
			return strings.HasPrefix(out, "installed ") && (version == "" || hasLine("installed "+version)(out))
		}}, true
	case "go":
		name, version, _ := strings.Cut(p.Target, "@")
		return check{[]string{"go", "list", "-m", "-f", "{{.Version}}", name}, text, func(out string) bool {
			return version == "" || version == "latest" || hasLine(version)(out)
		}}, true
	case "gem":
		return check{args: []string{"gem", "list", "--installed", "--exact", name}, text: text}, true
	case "cargo": // cargo install --list makes its lists where there are none
		return check{[]string{"sh", "-c", `cat "${CARGO_HOME:-$HOME/.cargo}/.crates.toml"`}, text, func(out string) bool {
			return strings.Contains(out, "\n\""+name+" ")
		}}, true
	}
	return check{}, false
}

// hasLine returns a function that looks for a whole line.
func hasLine(line string) func(string) bool {
	return func(out string) bool { return strings.Contains("\n"+out+"\n", "\n"+line+"\n") }
}

// waitForPorts waits until the service that a step started answers, since the steps that need it
// follow at once. It returns why it does not.
func (r *runner) waitForPorts(ctx context.Context, s *replay.Step) string {
	const tries = 50
	pause := 20 * time.Millisecond
	for _, p := range s.Post {
		if p.Kind != replay.PostPort || !s.Background {
			continue
		}
		for try := 0; ; try++ {
			_, held, err := r.holds(ctx, s, p)
			if err != nil {
				return err.Error()
			}
			if held {
				break
			}
			if try == tries || r.Sleep(ctx, pause) != nil {
				return fmt.Sprintf("what it started does not answer at port %s", p.Target)
			}
			pause = min(2*pause, 500*time.Millisecond)
		}
	}
	return ""
}
