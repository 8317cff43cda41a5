# Recount: ctrl-R searches (recount hook bash --no-bind leaves the keys alone). bash before 4.3 keeps
# its own ctrl-R: it can't run a function that changes the line at a sequence of keys.
if [[ $- == *i* ]] && ((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 3)); then
  __recount_search() {
    local answer
    answer=$(@FRONT@ search --binding -- "$READLINE_LINE")
    case $answer in
      run:*) READLINE_LINE=${answer#run:} ;;
      edit:*) READLINE_LINE=${answer#edit:} ;;
      *)
        __recount_then redraw-current-line
        return
        ;;
    esac
    READLINE_POINT=${#READLINE_LINE}
    if [[ $answer == run:* ]]; then
      __recount_then accept-line
    else
      __recount_then redraw-current-line
    fi
  }

  # A function at a key can't accept the line, so the key is followed by another one, which does what
  # the function has chosen.
  __recount_then() {
    local map
    for map in emacs-standard vi-insert vi-command; do
      bind -m "$map" "\"\\C-x\\C-_R2\": $1"
    done
  }

  __recount_bind() {
    local map key
    for map in emacs-standard vi-insert vi-command; do
      bind -m "$map" -x '"\C-x\C-_R1": __recount_search'
      for key in @KEYS@; do
        bind -m "$map" "\"$key\": \"\\C-x\\C-_R1\\C-x\\C-_R2\""
      done
    done
  }

  __recount_then redraw-current-line
  __recount_bind
fi
