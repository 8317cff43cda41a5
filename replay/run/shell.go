package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
	"github.com/recountdb/recount/replay/shell"
)

// command returns what to run for a step.
func (r *runner) command(s *replay.Step) sandbox.Command {
	name := path.Base(cmp.Or(s.Shell, "bash"))
	command, values := r.given(s)
	if from := s.Env["OLDPWD"]; from != "" {
		command = shell.CameFrom(name, from) + command
	}
	if name == "zsh" {
		command += "\n" // see EvaluateZsh
	}
	c := sandbox.Command{Args: []string{name, "-c", command}, Dir: cmp.Or(s.Cwd, r.Executor.Dir()), Timeout: r.Timeout, Grace: r.Grace}
	typed, declare := name == "bash" || name == "zsh", ""
	if names := declaredAtStart(s); typed && len(names) > 0 {
		declare = withStartup(name, names)
	}
	if jobs := r.jobsOf(s); jobs != "" || r.inSession(s) {
		keep, starts, line, script := "", "", command, sessionWords+withSession
		if len(s.Sets) > 0 {
			keep = "keep"
		}
		if name == "zsh" {
			script = shell.ZshSession
		}
		if jobs != "" {
			line, script = lastProcess(line), sessionWords+withJobs+withSession
			if s.Background {
				starts = "starts"
			}
		}
		command = line
		c.Args = []string{name, "-c", script + declare + evaluate, name, r.sessionFile(s), keep, jobs, starts}
		if name == "fish" {
			c.Args, command = []string{name, "-c", shell.FishSession + command + shell.FishEnd, r.sessionFile(s), keep}, ""
		}
	} else if typed && searches.MatchString(command) || declare != "" {
		c.Args[2] = typedWords + declare + evaluate
	} else {
		command = ""
	}
	if typed && readsStartup.MatchString(s.Command) {
		c.Args = asTyped(c.Args)
	}
	env := maps.Clone(r.Env)
	if env == nil {
		env = map[string]string{}
	}
	if command != "" {
		env["__recount_command"] = command
	}
	maps.Copy(env, s.Env)
	maps.Copy(env, values)
	if env["GIT_EDITOR"] == "" && env["VISUAL"] == "" && env["EDITOR"] == "" {
		// Nobody edits the message of git rebase --continue. A variable of git's own would hide an editor in its settings.
		name := "GIT_EDITOR"
		if slices.ContainsFunc(r.plan.Steps, func(o replay.Step) bool { return strings.Contains(o.Command, "core.editor") }) {
			name = "EDITOR"
		}
		env[name] = "true"
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.Env = append(c.Env, name+"="+env[name])
	}
	return c
}

// given returns the command of a step, and the values that it asks for by the names of their variables. A value
// for the step alone is in a variable of its own: what the session was left like may have the other one.
func (r *runner) given(s *replay.Step) (command string, values map[string]string) {
	command, values = s.Command, map[string]string{}
	for _, a := range s.Asks {
		if a.Name == "" {
			continue
		}
		own := a.OwnName(s.Index)
		if v, ok := r.Values[own]; ok {
			command = strings.ReplaceAll(command, "${"+a.Name+"}", "${"+own+"}")
			values[own] = v
		} else if v, ok := r.Values[a.Name]; ok {
			values[a.Name] = v
		}
	}
	return command, values
}

// inSession reports whether a step has to run in what its session's shell was left like.
func (r *runner) inSession(s *replay.Step) bool {
	if s.Session == "" || !slices.Contains([]string{"bash", "zsh", "fish"}, path.Base(cmp.Or(s.Shell, "bash"))) {
		return false
	}
	return slices.ContainsFunc(r.plan.Steps, func(o replay.Step) bool { return o.Session == s.Session && len(o.Sets) > 0 })
}

// sessionFile is where the state of a session's shell is kept.
func (r *runner) sessionFile(s *replay.Step) string {
	sum := sha256.Sum256([]byte(s.Session))
	return path.Join(r.Scratch, "session-"+hex.EncodeToString(sum[:8]))
}

// searches finds lines that look for processes by their words: pkill -f server.
var searches = regexp.MustCompile(`\b(pkill|pgrep|ps|pidof|killall)\b`)

// typedWords take the command out of the environment. A shell whose arguments have it would find itself where the
// command looks for processes by their words; the one into which it was typed did not.
const typedWords = `typeset +x __recount_command
`

// sessionWords are the arguments of withSession and withJobs: the file with a session's state, whether the state
// is written again, the file with the session's jobs, and whether the command starts some.
const sessionWords = typedWords + `__recount_state=$1 __recount_keep=$2 __recount_jobs=$3 __recount_starts=$4
set --
`

// withSession is a script of bash that reads a session's state, and writes it again when the command ends, also if that
// exits. The working directory and what belongs to this process are not part of the state. Files that the shell has open (exec 3> log) are opened again where they were left, as long as they are
// plain files; what else was opened is taken for a copy of what the step is given (exec 6>&1).
const withSession = `__recount_open() {
  local n name key value flags pos files='' kind
  for n in /proc/$$/fd/*; do
    n=${n##*/}
    if [ "$n" = 255 ] || ! [ -e "/proc/$$/fd/$n" ]; then continue; fi
    kind=; if [ -f "/proc/$$/fd/$n" ]; then kind=f; fi
    case $__recount_before in *" $n$kind "*) continue ;; esac
    flags=0 pos=0
    while read -r key value; do
      case $key in flags:) flags=$value ;; pos:) pos=$value ;; esac
    done < "/proc/$$/fdinfo/$n"
    if [ -z "$kind" ]; then
      if [ "$n" -lt 3 ]; then continue; fi
      if (( flags & 3 )); then echo "exec $n>&1"; else echo "exec $n<&0"; fi
      continue
    fi
    name=$(readlink "/proc/$$/fd/$n") && [ -f "$name" ] || continue
    if (( flags & 02000 )); then printf -v value 'exec %d>> %q\n' "$n" "$name"; files+=$value; continue; fi
    if (( flags & 3 )); then key='<>'; else key='<'; fi
    printf -v value 'exec %d%s %q; head -c %d <&%d >/dev/null 2>&1\n' "$n" "$key" "$name" "$pos" "$n"; files+=$value
  done
  printf '%s' "$files"
}
__recount_save() {
  __recount_code=$?
  trap - EXIT; trap - DEBUG RETURN; __recount_traps=$(trap -p)
  if [ -n "$__recount_starts" ]; then __recount_jobs_save; fi
  if [ -z "$__recount_keep" ]; then exit $__recount_code; fi
  mkdir -p "${__recount_state%/*}" && (
    unset RECOUNT_SANDBOX_STEP PWD OLDPWD SHLVL __recount_code __recount_record __recount_command __recount_keep __recount_jobs __recount_starts __recount_pid __recount_before __recount_n
    if declare -F __recount_await >/dev/null; then unset -f kill wait fg bg disown; fi
    __recount_options=$(shopt -p; shopt -po)
    declare -p 2>/dev/null | grep -Ev '^declare -[a-zA-Z]*r[a-zA-Z]* (BASH_?[A-Z]*|EUID|PPID|SHELLOPTS|UID)(=|$)'
    declare -f
    alias -p; printf '%s\n' "$__recount_options" "$__recount_traps"
    if __recount_files=$(__recount_open) && [ -n "$__recount_files" ]; then printf '__recount_reopen() {\n%s\n}\n' "$__recount_files"; fi
    for ((__recount_n = ${#DIRSTACK[@]} - 1; __recount_n > 0; __recount_n--)); do printf 'pushd -n %q >/dev/null\n' "$(dirs -l +$__recount_n)"; done
    echo "umask $(umask)"
    if [ $# -gt 0 ]; then printf 'set --'; printf ' %q' "$@"; echo; fi
  ) > "$__recount_state.$$" && mv -f "$__recount_state.$$" "$__recount_state"
  exit $__recount_code
}
__recount_before=' '
for __recount_n in /proc/$$/fd/*; do
  if [ -f "$__recount_n" ]; then __recount_before+="${__recount_n##*/}f "; elif [ -e "$__recount_n" ]; then __recount_before+="${__recount_n##*/} "; fi
done
if [ -f "$__recount_state" ]; then . "$__recount_state" 2>/dev/null; fi
if declare -F __recount_reopen >/dev/null; then __recount_reopen; unset -f __recount_reopen; __recount_keep=keep; fi
shopt -s expand_aliases
if [ -n "$__recount_keep$__recount_starts" ]; then trap '__recount_save "$@"' EXIT; fi
`

// evaluate runs the command.
const evaluate = `eval "$__recount_command"` + "\n"
