# Recount: tell each command that was run. In ~/.config/fish/config.fish:  recount hook fish | source
if status is-interactive; and not set -q __recount_session
    set -g __recount_record @RECORD@
    set -g __recount_session fish-$fish_pid-(date +%s)
    set -gx RECOUNT_SESSION $__recount_session # what is asked here is about this session
    set -g __recount_cwd $PWD
    if set -q RECOUNT_HOOK_LOG
        set -g __recount_log $RECOUNT_HOOK_LOG
    else if set -q XDG_STATE_HOME
        set -g __recount_log $XDG_STATE_HOME/recount-hook.log
    else
        set -g __recount_log $HOME/.local/state/recount-hook.log
    end
    mkdir -p (dirname $__recount_log) 2>/dev/null

    function __recount_preexec --on-event fish_preexec
        set -g __recount_before $status
        set -g __recount_cwd $PWD
        # fish has no clock of its own; the system's uptime costs no process.
        set -g __recount_at
        if test -r /proc/uptime
            read -l up idle </proc/uptime
            set __recount_at --uptime $up
        end
    end

    function __recount_postexec --on-event fish_postexec
        set -l exit_status $status
        set -l took $CMD_DURATION
        if string match -qr '^\s' -- "$argv[1]"; or test -z "$argv[1]"; or set -q fish_private_mode
            return $exit_status
        end
        if string match -qr '^(#[^\n]*\n?)+$' -- "$argv[1]" # nothing but a comment
            return $exit_status
        end
        # What goes to the background, what sets a variable and what ctrl-Z stops leaves the
        # $status of the command before it.
        set -l code $exit_status
        if test "$code" = "$__recount_before"
            if string match -qr '&\s*(#.*)?$|^\s*set\s[^()]*$' -- "$argv[1]"
                set code 0
            else if jobs -l | string match -q -- "*stopped"\t"$argv[1]"
                set code 148 # as in other shells: 128 + SIGTSTP
            end
        end
        # Through sh, so that $last_pid and the list of jobs stay the user's.
        # The text by a pipe: arguments are for everybody to see, and not long enough.
        printf %s "$argv[1]" | RECOUNT_IGNORE="$RECOUNT_IGNORE" RECOUNT_IGNORE_DIRS="$RECOUNT_IGNORE_DIRS" RECOUNT_HOOK_LOG=$__recount_log \
            /bin/sh -c 'exec 3<&0; { command : >>"$RECOUNT_HOOK_LOG"; } 2>/dev/null || RECOUNT_HOOK_LOG=/dev/null; "$@" <&3 3<&- >/dev/null 2>>"$RECOUNT_HOOK_LOG" &' sh \
            $__recount_record --shell fish --session $__recount_session --cwd $__recount_cwd \
            --exit $code $__recount_at --duration {$took}ms
        return $exit_status
    end
end
