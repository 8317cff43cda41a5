package command

// systemPrograms manage the machine: processes, services, users, devices.
var systemPrograms = []program{
	{"ps|top|htop|btop|atop|glances|pstree|pgrep|pidof|pidstat|vmstat|iostat|mpstat|sar|free|uptime|iotop|slabtop|nmon|dstat|numastat|smem|pmap|prstat", catDebug, "-p:num -u:arg -C:arg -n:num -d:num -o:arg -s:arg --sort:arg --ppid:num", "?*"},
	{"kill|pkill|killall|skill|xkill|renice|ionice|taskset|chrt", catDebug, "-s:arg -u:arg -n:num -p:num", "arg*"},
	{"dmesg|journalctl|last|lastb|coredumpctl|sosreport|logread|faillog|ausearch", catDebug, "-u:arg -n:num --since:str --until:str -p:arg --unit:arg -t:arg -g:str", "?*"},
	{"jobs|times|ulimit|getrusage", catDebug, "-p:num -n:num", "arg*"},
	{"fg|bg|disown|suspend", 0, "", "arg*"},
	{"systemctl|service|launchctl|initctl|rc-service|supervisorctl|pm2|sv|chkconfig|update-rc.d|invoke-rc.d|rcctl", catConfigure, "-t:arg -n:num -H:host", "sub arg*"},
	{"systemctl status|list-units|is-active|show|cat|list-timers|is-enabled|list-unit-files|list-dependencies|is-failed", catDebug, "-n:num", "arg*"},
	{"service status", catDebug, "", "arg*"},
	{"useradd|userdel|usermod|groupadd|groupdel|groupmod|adduser|deluser|passwd|chsh|chfn|gpasswd|visudo|addgroup|newgrp|vipw|chage|htpasswd|chpasswd", catConfigure, "-g:arg -G:arg -s:r -d:r -u:arg -c:str -a:arg -p:arg", "arg*"},
	{"mount", catConfigure, "-t:word -o:arg -L:arg -U:arg", "r u"},
	{"umount|losetup|mkfs|mke2fs|fsck|fdisk|parted|swapon|swapoff|mdadm|lvcreate|lvextend|vgcreate|pvcreate|cryptsetup|zpool|zfs|btrfs|tune2fs|resize2fs|e2label|blockdev|hdparm|eject|dumpe2fs", catConfigure, "-t:word -L:num -o:arg", "u*"},
	{"sysctl|modprobe|insmod|rmmod|depmod|hostnamectl|timedatectl|localectl|loginctl|hwclock|locale-gen|ldconfig|update-grub|grub-install|setenforce|setsebool|semanage|udevadm|stty|setterm|tput|reset|loadkeys|xrandr|xset|setxkbmap|gsettings|defaults|dconf|dpkg-reconfigure|tzselect|systemd-tmpfiles|setcap|mknod|mkinitcpio", catConfigure, "-w:arg -p:r", "?*"},
	{"uname|hostname|arch|lscpu|lspci|lsusb|lshw|dmidecode|lsmod|modinfo|getconf|nproc|lsb_release|sw_vers|date|cal|ncal|locale|neofetch|fastfetch|inxi|blkid|findmnt|hostid|printenv|hwinfo|acpi|sensors|nvidia-smi|vainfo|glxinfo", catQuery, "-d:str --date:str -f:str -r:r -o:arg -s:arg -U:arg", "?*"},
	{"crontab", catConfigure, "-u:arg", "r"},
	{"at|batch|atq|atrm", catOther, "-f:r", "arg*"},
	{"shutdown|reboot|poweroff|halt|init|telinit|logout|exit|bye", catOther, "", "arg*"},
	{"screen|tmux|byobu|zellij|script|dtach|reptyr|abduco", catOther, "-S:arg -t:arg -s:arg -n:arg -c:str -r:arg", "?*"},
	{"clear|cls|true|false|sleep|tset|banner|figlet|cowsay|fortune|sl|lolcat|cmatrix|beep", 0, "", "arg*"},
	{"update-ca-certificates|add-apt-repository|apt-key|rpmkeys|authconfig|nginx|apachectl|a2ensite|a2enmod|a2dissite|httpd|haproxy|postfix|sshd", catConfigure, "-c:r -f:r -s:arg", "arg*"},
	{"lp|lpr|lpq|lprm|cancel|lpstat", catOther, "-d:arg -P:arg -n:num", "r*"},
	{"ffmpeg|convert|mogrify|magick|sox|identify|mplayer|mpv|vlc|arecord|aplay|parec|gs|inkscape|pdftk|exiftool", catOther, "-i:r -r:num -vf:str -t:num -ss:num", "?*"},
}
