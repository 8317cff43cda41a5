package command

// networkPrograms connect to other machines.
var networkPrograms = []program{
	{"ssh|autossh|mosh|sshpass", catNavigate, "-p:port -i:r -l:arg -o:arg -F:r -L:port -R:port -D:port -J:host -b:host -c:arg -E:w", "host cmd"},
	{"scp", catDeploy, "-P:port -i:r -o:arg -l:num -F:r -c:arg", "from* to"},
	{"sftp|ftp|lftp|telnet", catNavigate, "-P:port -i:r -o:arg -b:r", "host port"},
	{"rsync", catOther, "-e:str --rsh:str --exclude:str --include:str --exclude-from:r --files-from:r --bwlimit:num --rsync-path:str", "from* to"},
	{"rclone", catDeploy, "", "sub from to"},
	{"ssh-keygen", catConfigure, "-t:arg -b:num -f:u -C:str -N:arg", "?*"},
	{"ssh-copy-id", catConfigure, "-i:r -p:port", "host"},
	{"ssh-add|ssh-agent|ssh-keyscan", catConfigure, "-t:arg", "r*"},
	{"curl", catQuery, "-o:w -X:word -H:str -d:str -u:arg -F:str -A:str -b:r -c:w -e:url -T:r -x:url -m:num --data:str --header:str --output:w --request:word --user:arg --url:url --data-binary:str --data-raw:str --retry:num --connect-timeout:num --max-time:num --cacert:r", "url*"},
	{"wget", catQuery, "-O:w -P:w -o:w -i:r -U:str -t:num -T:num --header:str --post-data:str --user:arg --password:arg", "url*"},
	{"http|https|xh|httpie|grpcurl|websocat|aria2c|axel|lynx|elinks|w3m|links", catQuery, "-o:w -a:arg -d:w", "url*"},
	{"ping|ping6|traceroute|tracepath|mtr|fping|arping", catDebug, "-c:num -i:num -W:num -w:num -s:num -t:num -I:arg -n", "host*"},
	{"dig|nslookup|host|whois|drill|getent", catDebug, "-t:word -x:host -f:r -p:port", "host*"},
	{"nc|ncat|netcat|socat", catDebug, "-p:port -w:num -s:host", "host port"},
	{"nmap|masscan", catDebug, "-p:port -oN:w", "host*"},
	{"netstat|ss|lsof|tcpdump|tshark|wireshark|iftop|nethogs|iperf|iperf3|arp|ethtool|iwconfig|nload|ngrep", catDebug, "-i:arg -p:arg -c:num -w:w -r:r", "?*"},
	{"ifconfig|ip|route|ipconfig|nmcli", catDebug, "", "?*"},
	{"ip addr|link|route|rule|netns", catDebug, "", "?*"},
	{"iptables|nft|ufw|firewall-cmd|ifup|ifdown|iwlist|brctl", catConfigure, "-p:arg -s:host -d:host -j:word --dport:port --sport:port", "?*"},
	{"openssl|gpg|gpg2|age|keytool|certbot|mkcert", catOther, "-in:r -out:w -o:w -r:arg -u:arg", "sub ?*"},
	{"mail|mailx|mutt|sendmail|write|wall|mesg|talk", catOther, "-s:str -a:r", "arg*"},
	{"finger|who|w|whoami|id|users|groups|logname|tty|lastlog", catQuery, "", "arg*"},
}
