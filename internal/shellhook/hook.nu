# Recount: tell each command that was run. Once:  recount hook nu | save --force ($nu.data-dir | path join vendor/autoload/recount.nu)
export-env {
    if $nu.is-interactive and ($env.__RECOUNT_SHELL? != $nu.pid) {
        $env.__RECOUNT_SHELL = $nu.pid
        # What is asked here is about this session.
        $env.RECOUNT_SESSION = $"nu-($nu.pid)-(date now | into int | $in // 1_000_000_000)"
        $env.__RECOUNT_COMMAND = null
        $env.config.hooks.pre_execution = ($env.config.hooks.pre_execution? | default [] | append {||
            $env.__RECOUNT_COMMAND = { text: (commandline), cwd: $env.PWD, at: (date now | into int) }
        })
        $env.config.hooks.pre_prompt = ($env.config.hooks.pre_prompt? | default [] | prepend {||
            let ran = $env.__RECOUNT_COMMAND?
            $env.__RECOUNT_COMMAND = null
            if $ran != null and $ran.text =~ '^[^\s#]' {
                let exit = $env.LAST_EXIT_CODE
                let code = if $exit < 0 { 128 - $exit } else { $exit } # negative: a signal ended it
                let state = $env.XDG_STATE_HOME? | default ($nu.home-path | path join .local/state)
                let log = $env.RECOUNT_HOOK_LOG? | default ($state | path join recount-hook.log)
                let at = $"($ran.at // 1_000_000_000).($ran.at mod 1_000_000_000 | fill --alignment right --character '0' --width 9)"
                # Each command has a recorder, which nothing waits for. The text is given by a pipe:
                # arguments are for everybody to see, and not long enough.
                try {
                    try { mkdir ($log | path dirname) }
                    with-env { RECOUNT_HOOK_LOG: $log } {
                        $ran.text | ^/bin/sh -c 'exec 3<&0; { command : >>"$RECOUNT_HOOK_LOG"; } 2>/dev/null || RECOUNT_HOOK_LOG=/dev/null; "$@" <&3 3<&- >/dev/null 2>>"$RECOUNT_HOOK_LOG" &' sh @RECORD@ --shell nu --session $env.RECOUNT_SESSION --cwd $ran.cwd --exit ($code | into string) --at $at --duration $"($env.CMD_DURATION_MS)ms"
                    }
                }
                $env.LAST_EXIT_CODE = $exit
            }
        })
    }
}
