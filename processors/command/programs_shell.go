package command

// shellPrograms are shell builtins and programs that run another command; "cmd" marks where that
// command starts.
var shellPrograms = []program{
	{"sudo|doas|pkexec|gosu", 0, "-u:arg -g:arg -p:arg -h:host -C:num -r:arg -t:arg --user:arg", "cmd"},
	{"su|runuser", catOther, "-c:script -s:r -l:arg -g:arg", "arg ?*"},
	{"env", 0, "-u:arg -C:r -S:str", "cmd"},
	{"nohup|exec|builtin|eval|setsid|unbuffer|catchsegv|fakeroot|dbus-run-session|xvfb-run|proxychains|proxychains4|torsocks|caffeinate|rlwrap|noglob|nocorrect", 0, "-a:arg -s:arg", "cmd"},
	{"time|gtime|hyperfine", 0, "-f:str -o:w -w:num -r:num", "cmd"},
	{"nice", 0, "-n:num --adjustment:num", "cmd"},
	{"timeout|gtimeout", 0, "-s:arg -k:num --signal:arg --kill-after:num", "num cmd"},
	{"stdbuf|chpst|softlimit|systemd-run|cgexec|numactl", 0, "-i:arg -o:arg -e:arg -p:arg -u:arg -g:arg", "cmd"},
	{"chroot|unshare|nsenter|schroot", 0, "-t:num -u:arg", "r cmd"},
	{"flock", 0, "-w:num -E:num", "w cmd"},
	{"watch|entr|watchexec|nodemon|inotifywait", catDebug, "-n:num -e:arg -w:r -i:str --interval:num", "cmd"},
	{"xargs|parallel|gxargs|rush", 0, "-I:arg -n:num -P:num -L:num -d:str -s:num -a:r -E:str -j:num --max-args:num --max-procs:num --delimiter:str --arg-file:r --replace:arg", "cmd"},
	{"bash|sh|zsh|dash|ksh|fish|mksh|csh|tcsh|pwsh|powershell|ash|busybox", 0, "-c:script -o:arg --rcfile:r --init-file:r", "r ?*"},
	{"source|.", catConfigure, "", "r arg*"},
	{"export|declare|typeset|local|readonly|set|unset|setenv|shopt|setopt|unsetopt|alias|unalias|abbr|bind|bindkey|complete|compdef|trap|umask|enable|autoload|zstyle|compinit|zmodload|setx", catConfigure, "-o:arg", "arg*"},
	{"read|readarray|mapfile|getopts|select|let|shift|return|break|continue|caller|dialog|whiptail|zenity", 0, "-p:str -n:num -t:num -d:str -r -a:arg", "arg*"},
	{"test|[", 0, "-f:r -d:r -e:r -r:r -w:r -x:r -s:r -L:r -h:r -n:str -z:str", "?*"},
	{"xclip|xsel|pbcopy|pbpaste|wl-copy|wl-paste|clip", catOther, "-i:r -o:arg -selection:word", "?*"},
}
