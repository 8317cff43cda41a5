# Recount: ctrl-R searches (recount hook zsh --no-bind leaves the keys alone).
if [[ -o interactive && -o zle ]]; then
  __recount_search() {
    emulate -L zsh
    local answer
    answer=$(@FRONT@ search --binding --below -- "$BUFFER" </dev/tty)
    zle reset-prompt
    case $answer in
      (run:*) BUFFER=${answer#run:} ;;
      (edit:*) BUFFER=${answer#edit:} ;;
      (*) return ;;
    esac
    CURSOR=$#BUFFER
    [[ $answer != run:* ]] || zle accept-line
  }
  zle -N recount-search __recount_search

  () {
    local map key
    for map in emacs viins vicmd; do
      for key in @KEYS@; do
        bindkey -M $map $key recount-search
      done
    done
  }
fi
