# Recount: tell each command that was run. In ~/.xonshrc:  execx($(recount hook xonsh))
if __xonsh__.env.get('XONSH_INTERACTIVE') and not hasattr(__xonsh__, 'recount_session'):
    def __recount_hook():
        import os
        import subprocess
        import time
        from xonsh.events import events

        env = __xonsh__.env
        record = [@RECORD@]
        session = 'xonsh-%d-%d' % (os.getpid(), time.time())
        __xonsh__.recount_session = session
        env['RECOUNT_SESSION'] = session # what is asked here is about this session
        state = env.get('XDG_STATE_HOME') or os.path.join(os.path.expanduser('~'), '.local/state')
        log = env.get('RECOUNT_HOOK_LOG') or os.path.join(state, 'recount-hook.log')
        started = {}
        ended = {} # the last pipeline, in a xonsh that does not keep it

        if not hasattr(__xonsh__, 'lastcmd'):
            try:
                from xonsh.procs.pipelines import CommandPipeline
                apply = CommandPipeline._apply_to_history

                def __recount_apply(self):
                    ended['pipeline'] = self
                    return apply(self)

                CommandPipeline._apply_to_history = __recount_apply
            except (ImportError, AttributeError):
                pass # what a signal ended counts as a success

        def last(): # never as a truth value: that waits for its end
            pipeline = getattr(__xonsh__, 'lastcmd', None)
            return ended.get('pipeline') if pipeline is None else pipeline

        def stopped():
            jobs = getattr(__xonsh__, 'all_jobs', None) or {}
            return {id(job['obj']) for job in jobs.values() if job.get('status') == 'stopped'}

        # xonsh may say 0 of what ctrl-C or another signal ended, and of what ctrl-Z stopped.
        def signalled():
            if stopped() - started.get('stopped', set()):
                return 148 # as in other shells: 128 + SIGTSTP
            pipeline = last()
            if pipeline is None or pipeline is started.get('before'):
                return 0
            by = getattr(getattr(pipeline, 'proc', None), 'signal', None)
            return 128 + by[0] if isinstance(by, tuple) else 0

        # The events of a command have its text without the spaces before it.
        @events.on_transform_command
        def __recount_transform(cmd, **_):
            started['hidden'] = cmd[:1].isspace()
            return cmd

        # With readline a command has lost them before that.
        @events.on_pre_prompt
        def __recount_pre_prompt(**_):
            shell = getattr(__xonsh__.shell, 'shell', None)
            if not hasattr(shell, 'precmd') or hasattr(shell, 'recount_precmd'):
                return
            precmd = shell.recount_precmd = shell.precmd

            def __recount_precmd(line):
                if not getattr(shell, 'need_more_lines', False):
                    started['spaced'] = line[:1].isspace()
                return precmd(line)

            shell.precmd = __recount_precmd

        @events.on_precommand
        def __recount_precommand(cmd, **_):
            started['cwd'] = env.get('PWD')
            started['before'], started['stopped'] = last(), stopped()

        # Each command has a recorder, which nothing waits for. The text is given by a pipe: arguments
        # are for everybody to see, and not long enough.
        @events.on_postcommand
        def __recount_postcommand(cmd, rtn, ts, **_):
            try:
                shell = getattr(__xonsh__.shell, 'shell', None)
                if started.get('hidden') or started.get('spaced') or getattr(shell, 'src_starts_with_space', False) or not cmd.strip():
                    return
                code = rtn or signalled()
                if code < 0: # a signal ended it
                    code = 128 - code
                args = ['--shell', 'xonsh', '--session', session, '--cwd', started.get('cwd') or os.getcwd(),
                        '--exit', str(code), '--at', '%.6f' % ts[0], '--duration', '%dus' % ((ts[1] - ts[0]) * 1e6)]
                try:
                    os.makedirs(os.path.dirname(log), exist_ok=True)
                    errors = open(log, 'ab')
                except OSError:
                    errors = open(os.devnull, 'ab')
                with errors:
                    recorder = subprocess.Popen(
                        ['/bin/sh', '-c', 'exec 3<&0; "$@" <&3 3<&- >/dev/null &', 'sh'] + record + args,
                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, env=env.detype(), start_new_session=True)
                    with recorder.stdin:
                        recorder.stdin.write(cmd.rstrip('\n').encode('utf-8', 'replace'))
                    recorder.wait()
            except OSError:
                pass # nothing that goes wrong here is the user's mistake

    __recount_hook()
    del __recount_hook
