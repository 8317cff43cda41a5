# Recount: tell each command that was run. In ~/.zshrc:  eval "$(recount hook zsh)"
# An array is never exported, as a variable of the shell above may be (setopt allexport).
if [[ -o interactive && -z ${__recount_record-} ]]; then
  zmodload zsh/datetime
  autoload -Uz add-zsh-hook
  typeset -ga __recount_record=(@RECORD@)
  typeset -g __recount_can_listen=@LISTEN@ __recount_pipe= __recount_pid= __recount_env=
  typeset -g __recount_session=zsh-$$-$EPOCHSECONDS
  export RECOUNT_SESSION=$__recount_session # what is asked here is about this session
  typeset -g __recount_log=${RECOUNT_HOOK_LOG:-${XDG_STATE_HOME:-$HOME/.local/state}/recount-hook.log}
  [[ -d ${__recount_log:h} ]] || mkdir -p -- ${__recount_log:h} 2>/dev/null
  typeset -g __recount_text= __recount_cwd=
  typeset -gF __recount_start=0

  # One recorder listens to this shell at the end of a pipe. The shell has both ends open:
  # so it never waits for a reader nor dies of having none, and what it wrote waits for the
  # next reader. Where there is no pipe each command has a recorder of its own.
  __recount_open() {
    __recount_pipe=
    __recount_environment
    __recount_env=$REPLY
    zmodload zsh/system && sysopen -rw -o cloexec,nonblock -u __recount_pipe <(:) || return
    __recount_listen && return
    __recount_close
    return 1
  } 2>/dev/null

  __recount_close() {
    exec {__recount_pipe}>&-
    __recount_pipe=
  }

  # What a recorder has in its environment stays as it was at its start.
  __recount_environment() {
    REPLY="${RECOUNT_DATA_DIR-}|${RECOUNT_CONFIG-}|${RECOUNT_SERVER-}|${RECOUNT_TOKEN-}|${RECOUNT_INSECURE_HTTP-}|${RECOUNT_AUTHOR-}|${RECOUNT_IGNORE_DIRS-}|${XDG_CONFIG_HOME-}|${XDG_DATA_HOME-}|${HOME-}"
  }

  # A log that can't be written is no reason to say so at a prompt, nor to record nothing.
  __recount_can_log() {
    { : >>|"$__recount_log" } 2>/dev/null || __recount_log=/dev/null
  }

  # The recorder closes its standard output when it listens.
  __recount_listen() {
    __recount_can_log
    __recount_pid=$(RECOUNT_IGNORE_DIRS=${RECOUNT_IGNORE_DIRS-} "${__recount_record[@]}" --listen --shell zsh --session "$__recount_session" \
      <&$__recount_pipe 2>>|"$__recount_log" & builtin print $!)
    [[ /proc/$__recount_pid/fd/0 -ef /proc/self/fd/$__recount_pipe ]]
  }

  # Returns something else than 0 where the command has to go another way: the pipe is full,
  # or there is none, or nobody at its end.
  __recount_put() {
    local REPLY
    __recount_environment
    if [[ $REPLY != "$__recount_env" ]]; then
      __recount_close
      __recount_open || return
    fi
    [[ /proc/$__recount_pid/fd/0 -ef /proc/self/fd/$__recount_pipe ]] || __recount_listen || return
    syswrite -o $__recount_pipe -- $'\0\0x'"$1"$'\0t'"$2"$'\0d'"$3"$'\0c'"$__recount_cwd"$'\0w'"$PWD"$'\0i'"${RECOUNT_IGNORE-}"$'\0k'"$__recount_text"$'\0.\0'
  }

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
      [[ -n $__recount_pipe ]] && __recount_put $exit_status "${at/,/.}" $took || (
        __recount_can_log
        exec </dev/null >/dev/null 2>>|"$__recount_log"
        builtin print -rn -- "$__recount_text" | RECOUNT_IGNORE=${RECOUNT_IGNORE-} RECOUNT_IGNORE_DIRS=${RECOUNT_IGNORE_DIRS-} "${__recount_record[@]}" \
          --shell zsh --session "$__recount_session" --cwd "$__recount_cwd" --exit $exit_status \
          --at "${at/,/.}" --duration ${took}us &
      )
    fi
    __recount_text=
    # Under set -e this would end the shell, also where the command did not (! true).
    [[ -o errexit ]] || return $exit_status
  }

  [[ -z $__recount_can_listen || $OSTYPE != linux* ]] || __recount_open
  add-zsh-hook preexec __recount_preexec
  # First, to see the command's $?.
  typeset -ga precmd_functions
  precmd_functions=(__recount_precmd ${precmd_functions:#__recount_precmd})
fi
