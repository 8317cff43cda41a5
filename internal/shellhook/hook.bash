# Recount: tell each command that was run. In ~/.bashrc:  eval "$(recount hook bash)"
# An array is never exported, as a variable of the shell above may be (set -a).
if [[ $- == *i* && -z ${__recount_record[*]-} ]]; then
  __recount_record=(@RECORD@) __recount_can_listen=@LISTEN@ __recount_pipe=
  __recount_session=bash-$$-${EPOCHSECONDS:-$(date +%s)}
  export RECOUNT_SESSION=$__recount_session # what is asked here is about this session
  __recount_log=${RECOUNT_HOOK_LOG:-${XDG_STATE_HOME:-$HOME/.local/state}/recount-hook.log}
  [[ -d ${__recount_log%/*} ]] || mkdir -p -- "${__recount_log%/*}" 2>/dev/null
  __recount_cwd=$PWD __recount_number=$HISTCMD __recount_start= __recount_seen=() __recount_count=0

  # One recorder listens to this shell at the end of a pipe. The shell has both ends open:
  # so it never waits for a reader nor dies of having none, and what it wrote waits for the
  # next reader. Where there is no pipe each command has a recorder of its own.
  __recount_open() {
    local pipe='' copy key value flags=0
    __recount_pipe=
    __recount_environment
    __recount_env=$REPLY
    { eval 'exec {pipe}<> <(:)'; } 2>/dev/null && [[ $pipe ]] || return
    # No program is to inherit it. bash closes on exec what it sets aside while a
    # redirection lasts, and copies of that: one is made here.
    {
      {
        for ((copy = 10; copy < 100; copy++)); do
          if ((copy != pipe)) && [[ /dev/fd/$copy -ef /dev/fd/$pipe ]]; then
            exec {__recount_pipe}>&"$copy"
            break
          fi
        done
      } 9>&-
    } 9>&"$pipe" 2>/dev/null
    exec {pipe}>&-
    [[ $__recount_pipe ]] || return
    while IFS=$' \t' read -r key value; do
      [[ $key != flags: ]] || flags=$value
    done 2>/dev/null </proc/self/fdinfo/"$__recount_pipe"
    ((8#$flags & 8#2000000)) && __recount_listen && return
    __recount_close
    return 1
  }

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
    { : >>"$__recount_log"; } 2>/dev/null || __recount_log=/dev/null
  }

  # The recorder closes its standard output when it listens.
  __recount_listen() {
    __recount_can_log
    __recount_pid=$(RECOUNT_IGNORE_DIRS=${RECOUNT_IGNORE_DIRS-} "${__recount_record[@]}" --listen --shell bash --session "$__recount_session" \
      <&"$__recount_pipe" 2>>"$__recount_log" & builtin echo $!)
    [[ /proc/$__recount_pid/fd/0 -ef /dev/fd/$__recount_pipe ]]
  }

  # Returns false where the command has to go another way: the pipe is full, or there is
  # none, or nobody at its end.
  __recount_put() {
    local REPLY
    __recount_environment
    if [[ $REPLY != "$__recount_env" ]]; then
      __recount_close
      __recount_open || return
    fi
    [[ /proc/$__recount_pid/fd/0 -ef /dev/fd/$__recount_pipe ]] || __recount_listen || return
    {
      builtin printf '\0\0x%s\0t%s\0d%s\0c%s\0w%s\0i%s\0h' "$1" \
        "${__recount_start:0:${#__recount_start}-6}.${__recount_start: -6}" "$2" "$__recount_cwd" "$PWD" "${RECOUNT_IGNORE-}" &&
        if [[ ${HISTTIMEFORMAT-} ]]; then HISTTIMEFORMAT='' builtin history 1; else builtin history 1; fi &&
        builtin printf '\0.\0'
    } >&"$__recount_pipe" 2>/dev/null
  }

  # Runs where nothing waits for it, so it may take its time.
  __recount_tell() {
    local status=$1 took=$2 same=$3 text
    text=$(HISTTIMEFORMAT='' builtin history 1)
    [[ $text =~ ^' '*[0-9]+[*' ']' ' ]] || return
    text=${text:${#BASH_REMATCH[0]}}
    [[ ! $same ]] || __recount_repeats "$text" "$status" || return
    set -- --shell bash --session "$__recount_session" --cwd "$__recount_cwd" --exit "$status"
    if [[ $__recount_start ]]; then
      set -- "$@" --at "${__recount_start:0:${#__recount_start}-6}.${__recount_start: -6}" --duration "${took}us"
    fi
    # By a pipe: arguments are for everybody to see, and not long enough.
    builtin printf '%s' "$text" | exec "${__recount_record[@]}" "$@"
  }

  # What ran is not in the history: either it repeats the line there, or the user wants
  # it kept out. A repeat begins with the first command that the DEBUG trap saw, and goes
  # on as what else was seen, or was not, allows.
  __recount_repeats() {
    local text=$1 status=$2 first=${__recount_seen[0]-} second=${__recount_seen[1]-} word
    [[ :${HISTCONTROL-}: == *:@(ignoredups|ignoreboth|erasedups):* || ${HISTIGNORE-} == *'&'* ]] || return
    while [[ $text =~ ^[[:space:]]*(if|while|until|time|!|\{)[[:space:]]+ ]]; do
      text=${text:${#BASH_REMATCH[0]}}
    done
    word=${text%%[[:space:]]*}
    [[ $word && ${BASH_ALIASES[$word]-} ]] && text=${BASH_ALIASES[$word]}${text#"$word"}
    text=${text//$'\n'/;} first=${first//$'\n'/;} second=${second//$'\n'/;}
    text=${text//[[:space:]\\]/} first=${first//[[:space:]\\]/} second=${second//[[:space:]\\]/}
    [[ $first && $text == "$first"* ]] || return
    text=${text#"$first"}
    text=${text%;}
    if [[ $second ]]; then
      [[ $text == *"$second"* ]]
      return
    fi
    case $text in
      '' | '&' | '#'* | '&#'* | ')'*) ;;
      '&&'*) [[ $status != 0 ]] ;;
      '||'*) [[ $status == 0 ]] ;;
      ';'*) [[ $status == 130 || $text == ';#'* ]] ;;
      *) return 1 ;;
    esac
  }

  __recount_debug() {
    # A PROMPT_COMMAND that replaced the hook is made to follow it.
    [[ ${PROMPT_COMMAND[*]-} == *__recount_precmd* ]] || __recount_first
    if [[ $__recount_start && $BASH_COMMAND != __recount_precmd* ]] && ((__recount_count < 2)); then
      __recount_seen[__recount_count++]=$BASH_COMMAND
    fi
    return 0
  }

  __recount_precmd() {
    __recount_status=$? # set -k takes an assignment after local for something else
    local status took same number
    status=$__recount_status took='' same='' number=$HISTCMD
    # What was put before it would change the $? that it sees: from the next prompt on it
    # is the first again, and its second call of one prompt does nothing.
    [[ ${PROMPT_COMMAND-} == __recount_precmd* ]] || __recount_first
    [[ $__recount_start != 0 ]] || __recount_start=
    if [[ $__recount_start ]]; then
      [[ $number == "$__recount_number" ]] && same=1
      took=$((${EPOCHREALTIME//[!0-9]/} - __recount_start))
    elif [[ $__recount_no_start && $number != "$__recount_number" ]]; then
      : # an old bash: no time, but a command
    else
      __recount_cwd=$PWD
      __recount_leave "$status"
      return
    fi
    if [[ ! $__recount_pipe || $same ]] || ! __recount_put "$status" "$took"; then
      __recount_can_log
      (RECOUNT_IGNORE=${RECOUNT_IGNORE-} RECOUNT_IGNORE_DIRS=${RECOUNT_IGNORE_DIRS-} __recount_tell "$status" "$took" "$same" </dev/null >/dev/null 2>>"$__recount_log" &)
    fi
    __recount_cwd=$PWD __recount_number=$number __recount_start= __recount_seen=() __recount_count=0
    __recount_leave "$status"
  }

  # What follows in PROMPT_COMMAND sees the command's $?; but under set -e it would end the shell,
  # also where the command did not (! true).
  __recount_leave() { [[ $- == *e* ]] || return "$1"; }

  # First, to see the command's $?; what was there before follows.
  __recount_first() {
    if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
      PROMPT_COMMAND=(__recount_precmd "${PROMPT_COMMAND[@]}")
    else
      PROMPT_COMMAND=__recount_precmd${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}
    fi
  }

  if [[ ${EPOCHREALTIME-} ]]; then
    __recount_no_start=
    [[ ! $__recount_can_listen || $OSTYPE != linux* ]] || __recount_open
    # Expanded between reading a command and running it; expands to nothing. In posix mode bash
    # replaces a ! here by a number. If this failed, bash would not run the command: EPOCHREALTIME
    # may have been unset.
    PS0=${PS0-}'${__recount_cwd:$((__recount_start=10#0${EPOCHREALTIME//[^0-9]/},0)):0}'
    __recount_hold=()
    eval "__recount_hold=($(trap -p DEBUG))"
    trap -- '__recount_debug "$_"'"${__recount_hold[2]:+
${__recount_hold[2]}}" DEBUG
    unset __recount_hold
  else
    __recount_no_start=1
  fi

  __recount_first
fi
