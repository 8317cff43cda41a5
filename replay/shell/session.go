package shell

import "strings"

// ZshSession is a script of zsh, and FishSession one of fish, that reads what an earlier shell of a session was left like
// from the file $1, if that is there: variables, functions, aliases, options, the umask, and the stack of directories. If $2 is
// not empty it is written again when the shell ends. Behind it stands what runs the command: in zsh EvaluateZsh, with the
// command in the variable __recount_command of the environment, which programs do not see; in fish the command and FishEnd.
const ZshSession = `typeset +x __recount_command
__recount_state=$1 __recount_keep=$2
set --
__recount_save() {
  __recount_code=$?
  __recount_options=$(unsetopt kshoptionprint; setopt)
  emulate zsh
  trap - EXIT
  mkdir -p "${__recount_state%/*}" && (
    unset RECOUNT_SANDBOX_STEP PWD OLDPWD SHLVL __recount_code __recount_record __recount_command __recount_keep
    zmodload -u zsh/parameter 2>/dev/null # its variables are no state
    typeset -p 2>/dev/null | grep -Ev '^typeset -[a-zA-Z]*r|^[^=]* __recount_options='
    typeset -f; alias -L
    echo "umask $(umask)"
    if zmodload zsh/parameter && (( $#dirstack )); then print -r -- "dirs ${(q@)dirstack}"; fi
    if [ $# -gt 0 ]; then printf 'set --'; printf ' %q' "$@"; echo; fi
    print -rl -- ${(f)__recount_options} | grep -Ev '^(interactive|login|monitor|privileged|restricted|shinstdin|singlecommand|zle|norcs|noglobalrcs|noexec)$' | sed 's/^/setopt /'
  ) > "$__recount_state.$$" && mv -f "$__recount_state.$$" "$__recount_state"
  exit $__recount_code
}
if [ -f "$__recount_state" ]; then . "$__recount_state" 2>/dev/null; fi
if [ -n "$__recount_keep" ]; then trap '__recount_save "$@"' EXIT; fi
`

// FishSession is described with ZshSession.
const FishSession = `set -g __recount_state $argv[1]
set -g __recount_keep "$argv[2]"
set -e argv
function __recount_save --on-event fish_exit
  if test -z "$__recount_keep"; return; end
  mkdir -p (dirname $__recount_state)
  set -l mask (umask)
  begin
    for name in (set -gn; set -Un)
      switch $name
        case '__recount_*' '__fish_*' 'fish_*' _ CMD_DURATION COLUMNS EUID FISH_VERSION LINES OLDPWD PWD SHLVL argv history hostname pipestatus status status_generation umask version RECOUNT_SANDBOX_STEP
        case '*'
          set -l scope -g
          if set -qx $name; set scope -gx; end
          echo set $scope $name (string escape -- $$name)
      end
    end
    set -g fish_function_path # else those in it would be loaded
    for name in (functions -an)
      switch "$name "(functions -D -- $name)
        case '__recount_*' '* embedded:*' "* $__fish_data_dir/*"
        case '*'
          functions -- $name
      end
    end
    echo umask $mask
  end > $__recount_state.$fish_pid
  and mv -f $__recount_state.$fish_pid $__recount_state
end
if test -f $__recount_state; source $__recount_state 2>/dev/null; end
`

// FishEnd stands behind the command. What is local to a line is there in the next one, as at a prompt.
const FishEnd = `
set -l __recount_status $status
for __recount_name in (set -ln)
  switch $__recount_name
    case '__recount_*' argv
    case '*'
      if set -qx $__recount_name; set -gx $__recount_name $$__recount_name; else; set -g $__recount_name $$__recount_name; end
  end
end
exit $__recount_status
`

// EvaluateZsh runs the command of a session's script. zsh reads { … } after a condition only before the end of a line.
const EvaluateZsh = `eval "$__recount_command"$'\n'` + "\n"

// CameFrom returns what tells a shell in which directory it was before, so that cd - goes there. bash takes it from OLDPWD in
// its environment.
func CameFrom(shell, dir string) string {
	quoted := "'" + strings.NewReplacer("'", `'"'"'`).Replace(dir) + "'"
	switch shell {
	case "zsh":
		return "builtin cd -q " + quoted + " 2>/dev/null && builtin cd -q \"$OLDPWD\"\n" // cd - takes no value of OLDPWD
	case "fish":
		return "set -g dirprev " + strings.ReplaceAll(quoted, `\`, `\\`) + "\n"
	}
	return ""
}
