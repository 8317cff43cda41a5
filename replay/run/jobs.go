package run

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/replay"
)

// usesJobs finds lines that may name a process that another line of their shell started.
var usesJobs = regexp.MustCompile(`\$!|\$\{!|(?:^|[\s"'])%(?:[0-9%+-]|$)|(?:^|[\s;&|(])(?:wait|fg|bg|disown)(?:$|[\s;&|)])`)

// jobsOf returns the file with the processes that steps of a session leave in the background. It is ""
// if no later step of the session can be about them. Only bash can be asked for them.
func (r *runner) jobsOf(s *replay.Step) string {
	if !r.inBash(s) {
		return ""
	}
	starts := false
	for i := range r.plan.Steps {
		o := &r.plan.Steps[i]
		if o.Session != s.Session {
			continue
		}
		if starts && usesJobs.MatchString(o.Command) {
			return r.sessionFile(s) + ".jobs"
		}
		starts = starts || o.Background
	}
	return ""
}

func (r *runner) inBash(s *replay.Step) bool {
	return s.Session != "" && slices.Contains([]string{"bash", "."}, path.Base(s.Shell))
}

// lastProcess makes a line use the process that an earlier step started where it says $! and has not
// started one itself.
func lastProcess(line string) string {
	if !strings.Contains(line, "$!") && !strings.Contains(line, "${!}") {
		return line
	}
	file, err := command.Parse(line, "bash")
	if err != nil {
		return line
	}
	var b strings.Builder
	at := uint(0)
	syntax.Walk(file, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil || p.Param.Value != "!" || !slices.Contains([]string{"$!", "${!}"}, line[p.Pos().Offset():p.End().Offset()]) {
			return true
		}
		b.WriteString(line[at:p.Pos().Offset()])
		b.WriteString("${!:-${__recount_pid-}}")
		at = p.End().Offset()
		return false
	})
	return b.String() + line[at:]
}

// withJobs are the parts of a shell's state that are processes: the file $__recount_jobs has the number
// and the process of each job. What takes a job takes those too.
const withJobs = `
__recount_jobs_save() {
  local n p last=0 all=''
  if [ -f "$__recount_jobs" ]; then
    while read -r n p; do
      if builtin kill -0 "$p" 2>/dev/null; then all+="$n $p"$'\n'; last=$n; fi
    done < "$__recount_jobs"
  fi
  for p in $(jobs -p); do last=$((last + 1)); all+="$last $p"$'\n'; done
  mkdir -p "${__recount_jobs%/*}" && printf '%s' "$all" > "$__recount_jobs"
}
__recount_job() {
  local n p found='' before=''
  while read -r n p; do
    case $1 in
      %|%%|%+) found=$p ;;
      %-) found=${before:-$p} before=$p ;;
      "%$n") found=$p ;;
    esac
  done < "$__recount_jobs"
  [ -n "$found" ] && echo "$found"
}
if [ -f "$__recount_jobs" ]; then
  __recount_pid=$(tail -n 1 "$__recount_jobs"); __recount_pid=${__recount_pid#* }
  __recount_await() { while builtin kill -0 "$1" 2>/dev/null; do sleep 0.05; done; }
  kill() {
    local w p words=()
    for w in "$@"; do
      case $w in %*) if ! jobs "$w" >/dev/null 2>&1 && p=$(__recount_job "$w"); then w=$p; fi ;; esac
      words+=("$w")
    done
    builtin kill "${words[@]}"
  }
  wait() {
    local w p n
    if [ $# = 0 ]; then
      builtin wait
      while read -r n p; do __recount_await "$p"; done < "$__recount_jobs"
      return 0
    fi
    for w in "$@"; do
      case $w in
        -*) builtin wait "$@"; return ;;
        %*) if jobs "$w" >/dev/null 2>&1; then builtin wait "$w"; elif p=$(__recount_job "$w"); then __recount_await "$p"; else return 127; fi ;;
        *) if jobs -p | grep -qx -- "$w"; then builtin wait "$w"; else __recount_await "$w"; fi ;;
      esac
    done
  }
  fg() { wait "${1:-%%}"; }
  bg() { :; }
  disown() { :; }
fi
`
