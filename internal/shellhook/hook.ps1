# Recount: tell each command that was run. In $PROFILE:  recount hook pwsh | Out-String | Invoke-Expression
if ($Host.Name -eq 'ConsoleHost' -and -not $global:RecountHook) {
    $global:RecountHook = @{
        Record  = @(@RECORD@)
        Session = 'pwsh-{0}-{1}' -f $PID, [DateTimeOffset]::UtcNow.ToUnixTimeSeconds()
        Cwd     = $PWD.ProviderPath
        Last    = (Get-History -Count 1).Id
        Prompt  = $function:prompt
    }
    $env:RECOUNT_SESSION = $global:RecountHook.Session # what is asked here is about this session

    # Each command has a recorder, which nothing waits for. The text is given by a pipe: arguments are
    # for everybody to see, and not long enough.
    function global:Send-RecountCommand($Command, [int]$Code) {
        $hook = $global:RecountHook
        $state = if ($env:XDG_STATE_HOME) { $env:XDG_STATE_HOME } else { Join-Path $HOME '.local/state' }
        $log = if ($env:RECOUNT_HOOK_LOG) { $env:RECOUNT_HOOK_LOG } else { Join-Path $state 'recount-hook.log' }
        [void][IO.Directory]::CreateDirectory([IO.Path]::GetDirectoryName($log))
        $start = [Diagnostics.ProcessStartInfo]::new('/bin/sh')
        $started = ([DateTimeOffset]$Command.StartExecutionTime).ToUniversalTime()
        $took = $Command.EndExecutionTime - $Command.StartExecutionTime
        foreach ($word in @('-c', 'exec 3<&0; "$@" <&3 3<&- >/dev/null 2>>"$RECOUNT_HOOK_LOG" &', 'sh') + $hook.Record + @(
                '--shell', 'pwsh', '--session', $hook.Session, '--cwd', $hook.Cwd, '--exit', "$Code",
                '--at', $started.ToString('yyyy-MM-ddTHH:mm:ss.ffffffZ', [cultureinfo]::InvariantCulture),
                '--duration', ('{0}us' -f [long]($took.Ticks / 10)))) {
            $start.ArgumentList.Add($word)
        }
        $start.Environment['RECOUNT_HOOK_LOG'] = $log
        $start.RedirectStandardInput = $true
        $start.StandardInputEncoding = [Text.UTF8Encoding]::new($false)
        $process = [Diagnostics.Process]::Start($start)
        $process.StandardInput.Write($Command.CommandLine)
        $process.StandardInput.Close()
        $process.Dispose()
    }

    function global:prompt {
        $ok = $?
        $code = $global:LASTEXITCODE
        $hook = $global:RecountHook
        $command = Get-History -Count 1
        if ($command -and $command.Id -ne $hook.Last) {
            $hook.Last = $command.Id
            if ($command.CommandLine -match '^[^\s#]') {
                # $LASTEXITCODE is that of the last program, which may have run long before.
                $exit = if ($ok) { 0 } elseif ($code) { $code } else { 1 }
                try { Send-RecountCommand $command $exit } catch { }
            }
        }
        $hook.Cwd = $PWD.ProviderPath
        $global:LASTEXITCODE = $code
        if (-not $ok) { Write-Error '' -ErrorAction Ignore } # the prompt that was there before sees $?
        & $hook.Prompt
    }
}
