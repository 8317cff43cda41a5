# Recount: tell each command that was run. In ~/.bashrc:  eval "$(recount hook bash)"
if [[ $- == *i* && -z ${__recount_session-} ]]; then
  __recount_bin=@RECOUNT@
  __recount_session=bash-$$-${EPOCHSECONDS:-$(date +%s)}
  export RECOUNT_SESSION=$__recount_session # what is asked here is about this session
  __recount_log=${RECOUNT_HOOK_LOG:-${XDG_STATE_HOME:-$HOME/.local/state}/recount-hook.log}
  [[ -d ${__recount_log%/*} ]] || mkdir -p -- "${__recount_log%/*}" 2>/dev/null
  __recount_cwd=$PWD __recount_number=$HISTCMD __recount_start= __recount_first=

  # Runs where nothing waits for it, so it may take its time.
  __recount_tell() {
    local status=$1 took=$2 same=$3 text first word
    text=$(HISTTIMEFORMAT='' builtin history 1)
    [[ $text =~ ^' '*[0-9]+[*' ']' ' ]] || return
    text=${text:${#BASH_REMATCH[0]}}
    if [[ $same ]]; then
      # Not in the history: either a repeat, or what the user wants kept out.
      first=${__recount_first//[[:space:];\\]/}
      word=${text%%[[:space:]]*}
      if [[ $word && ${BASH_ALIASES[$word]-} ]]; then
        word=${BASH_ALIASES[$word]}${text#"$word"}
      else
        word=$text
      fi
      word=${word//[[:space:];\\]/}
      [[ $first && $word == "$first"* ]] || return
    fi
    exec "$__recount_bin" record --hook --shell bash --session "$__recount_session" --cwd "$__recount_cwd" \
      --exit "$status" ${__recount_start:+--at "${__recount_start:0:${#__recount_start}-6}.${__recount_start: -6}"} \
      ${took:+--duration "${took}us"} -- "$text"
  }

  __recount_debug() {
    [[ $__recount_start && -z $__recount_first ]] && __recount_first=$BASH_COMMAND
    return 0
  }

  __recount_precmd() {
    local status=$? took= same= number=$HISTCMD
    if [[ $__recount_start ]]; then
      [[ $number == "$__recount_number" ]] && same=1
      took=$((${EPOCHREALTIME//[!0-9]/} - __recount_start))
    elif [[ $__recount_no_start && $number != "$__recount_number" ]]; then
      : # an old bash: no time, but a command
    else
      __recount_cwd=$PWD
      return "$status"
    fi
    (RECOUNT_IGNORE=${RECOUNT_IGNORE-} __recount_tell "$status" "$took" "$same" </dev/null >/dev/null 2>>"$__recount_log" &)
    __recount_cwd=$PWD __recount_number=$number __recount_start= __recount_first=
    return "$status"
  }

  if [[ ${EPOCHREALTIME-} ]]; then
    __recount_no_start=
    # Expanded between reading a command and running it; expands to nothing.
    PS0=${PS0-}'${__recount_bin:$((__recount_start=${EPOCHREALTIME//[!0-9]/},0)):0}'
    __recount_hold=()
    eval "__recount_hold=($(trap -p DEBUG))"
    trap -- '__recount_debug "$_"'"${__recount_hold[2]:+
${__recount_hold[2]}}" DEBUG
    unset __recount_hold
  else
    __recount_no_start=1
  fi

  # First, to see the command's $?; what was there before follows.
  if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
    PROMPT_COMMAND=(__recount_precmd "${PROMPT_COMMAND[@]}")
  else
    PROMPT_COMMAND=__recount_precmd${PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}
  fi
fi
