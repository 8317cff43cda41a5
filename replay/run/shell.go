package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// command returns what to run for a step.
func (r *runner) command(s *replay.Step) sandbox.Command {
	shell := path.Base(cmp.Or(s.Shell, "bash"))
	c := sandbox.Command{Args: []string{shell, "-c", s.Command}, Dir: cmp.Or(s.Cwd, r.Executor.Dir()), Timeout: r.Timeout, Grace: r.Grace}
	if r.inSession(s) {
		keep := ""
		if len(s.Sets) > 0 {
			keep = "keep"
		}
		c.Args = []string{shell, "-c", withSession, shell, r.sessionFile(s), s.Command, keep}
	}
	env := maps.Clone(r.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, s.Env)
	for _, a := range s.Asks {
		if v, given := r.Values[a.Name]; given && a.Name != "" {
			env[a.Name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.Env = append(c.Env, name+"="+env[name])
	}
	return c
}

// inSession reports whether a step has to run in what its session's shell was left like.
func (r *runner) inSession(s *replay.Step) bool {
	if s.Session == "" || !slices.Contains([]string{"bash", "zsh", ""}, path.Base(cmp.Or(s.Shell, "bash"))) {
		return false
	}
	return slices.ContainsFunc(r.plan.Steps, func(o replay.Step) bool { return o.Session == s.Session && len(o.Sets) > 0 })
}

// sessionFile is where the state of a session's shell is kept.
func (r *runner) sessionFile(s *replay.Step) string {
	sum := sha256.Sum256([]byte(s.Session))
	return path.Join(r.Scratch, "session-"+hex.EncodeToString(sum[:8]))
}

// withSession is a script that reads a session's state from the file $1, runs the command $2, and
// writes the state again if $3 is given, also if the command exits. The working directory and what belongs to this
// process are not part of the state.
const withSession = `__recount_state=$1 __recount_command=$2 __recount_keep=$3
set --
__recount_save() {
  __recount_code=$?
  trap - EXIT
  mkdir -p "${__recount_state%/*}" && (
    unset RECOUNT_SANDBOX_STEP PWD OLDPWD SHLVL __recount_code __recount_command __recount_keep
    if [ -n "$BASH_VERSION" ]; then
      __recount_options=$(shopt -p; shopt -po)
      declare -p 2>/dev/null | grep -v '^declare -[a-zA-Z]*r'
      declare -f
      alias -p; printf '%s\n' "$__recount_options"
    else
      typeset -p 2>/dev/null | grep -v '^typeset -[a-zA-Z]*r'
      typeset -f; alias -L
    fi
    echo "umask $(umask)"
  ) > "$__recount_state.$$" && mv -f "$__recount_state.$$" "$__recount_state"
  exit $__recount_code
}
if [ -f "$__recount_state" ]; then . "$__recount_state" 2>/dev/null; fi
if [ -n "$BASH_VERSION" ]; then shopt -s expand_aliases; fi
if [ -n "$__recount_keep" ]; then trap __recount_save EXIT; fi
eval "$__recount_command"
`
