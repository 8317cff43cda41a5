# Recount: tell each command that was run. In ~/.zshrc:  eval "$(recount hook zsh)"
if [[ -o interactive && -z ${__recount_session-} ]]; then
  zmodload zsh/datetime
  autoload -Uz add-zsh-hook
  typeset -ga __recount_record=(@RECORD@)
  typeset -g __recount_session=zsh-$$-$EPOCHSECONDS
  export RECOUNT_SESSION=$__recount_session # what is asked here is about this session
  typeset -g __recount_log=${RECOUNT_HOOK_LOG:-${XDG_STATE_HOME:-$HOME/.local/state}/recount-hook.log}
  [[ -d ${__recount_log:h} ]] || mkdir -p -- ${__recount_log:h} 2>/dev/null
  typeset -g __recount_text= __recount_cwd=
  typeset -gF __recount_start=0

  __recount_preexec() {
    __recount_text=$1 __recount_cwd=$PWD __recount_start=$EPOCHREALTIME
  }

  __recount_precmd() {
    local exit_status=$?
    if [[ -n $__recount_text && $__recount_text != [[:space:]]* ]]; then
      local -i took=$(( (EPOCHREALTIME - __recount_start) * 1000000 ))
      local at
      printf -v at '%.6f' $__recount_start
      # In parentheses, so that $! and the list of jobs stay the user's. By a pipe:
      # arguments are for everybody to see, and not long enough.
      (
        exec </dev/null >/dev/null 2>>"$__recount_log"
        builtin print -rn -- "$__recount_text" | RECOUNT_IGNORE=${RECOUNT_IGNORE-} "${__recount_record[@]}" \
          --shell zsh --session "$__recount_session" --cwd "$__recount_cwd" --exit $exit_status \
          --at "${at/,/.}" --duration ${took}us &
      )
    fi
    __recount_text=
    return $exit_status
  }

  add-zsh-hook preexec __recount_preexec
  # First, to see the command's $?.
  precmd_functions=(__recount_precmd ${precmd_functions:#__recount_precmd})
fi
