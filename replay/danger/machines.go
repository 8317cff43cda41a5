package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
)

// machines are rules about what keeps a machine running: its volumes, its network, its services, its settings,
// and the devices and virtual machines beside it.
var machines = []rule{
	// Volumes.
	{"disk", "zfs receive,zfs recv", flag("-F"), "it rolls a volume back"},
	{"disk", "zpool export,zpool split,zpool detach,zpool attach,zpool add,zpool upgrade,zpool reguid", someArgument, "it changes the disks of a pool"},
	{"disk", "zfs set", matching(`^(mountpoint|canmount|readonly|quota|refquota|volsize|keylocation|sharenfs|sharesmb)=`), "it changes what is mounted or shared"},
	{"disk", "zfs unmount,zfs umount,zfs unload-key,zfs change-key,zfs promote,zfs rename,zfs allow,zfs unallow,zfs upgrade", someArgument, "it changes what is mounted or shared"},
	{"disk", "btrfs check", flag("--repair --init-csum-tree --init-extent-tree"), "it changes a file system"},
	{"disk", "btrfs rescue", exactly("zero-log super-recover chunk-recover"), "it changes a file system"},
	{"disk", "btrfs device,btrfs replace,btrfs filesystem", exactly("remove delete add start cancel resize"), "it changes the disks of a file system"},
	{"disk", "vgchange,lvchange", some(exactly("-an --activate=n"), all(flag("-a --activate"), exactly("n"))), "it takes volumes away from what uses them"},
	{"disk", "vgexport,vgsplit,vgmerge", someOperand, "it takes volumes away from what uses them"},
	{"disk", "mdadm", exactly("--grow --add --re-add --replace -G -a -f -r -S -C"), "it changes an array of disks"},
	{"disk", "dmsetup", exactly("remove remove_all wipe_table clear suspend load reload rename"), "it changes what disks are seen"},
	{"disk", "multipath", flag("-F -f"), "it changes what disks are seen"},
	{"disk", "iscsiadm", some(flag("-u --logout"), exactly("delete")), "it takes away a disk"},
	{"disk", "targetcli", exactly("delete clearconfig"), "it takes disks away from others"},
	{"disk", "nvme disconnect,nvme disconnect-all,nvme fw-download,nvme fw-commit,nvme write-zeroes,nvme dsm,nvme detach-ns", nil, "it changes a disk"},
	{"remove", "rclone dedupe,rclone settier", nil, "it removes files of another storage"},
	{"remove", "borg break-lock", nil, "it removes a lock, whoever holds it"},
	{"send", "mc admin,mc policy,mc anonymous,mc ilm,mc version,mc replicate,mc retention,mc legalhold,mc tag,mc event,mc quota,mc encrypt,mc share", unless(1, 3, "links,trace,console,prometheus,download,scanner"), "it changes another storage"},

	// Networks.
	{"system", "iptables,ip6tables", flag("-A -I --append --insert"), "it changes the machine's firewall"},
	{"system", "ipset", func(c *call) bool { return words("destroy flush del x f -X -F -D")[c.Sub()] }, "it changes the machine's firewall"},
	{"system", "conntrack", flag("-D -F --delete --flush"), "it cuts connections of others"},
	{"system", "ipvsadm", flag("-C -D -d --clear --delete-service --delete-server"), "it changes where connections go"},
	{"system", "nmcli", exactly("disconnect del dis mod"), "it changes the machine's network"},
	{"system", "wg", exactly("set setconf addconf syncconf"), "it changes the machine's network"},
	{"system", "tc,bridge", exactly("add del delete change replace set"), "it changes the machine's network"},
	{"system", "ethtool", matching(`^(-s|-K|-G|-L|-C|-A|-E|-f|-r|--(change|features|offload|reset|flash|set-\w+|change-eeprom|negotiate|coalesce|pause))$`), "it changes the machine's network"},
	{"system", "brctl", exactly("addbr delbr addif delif"), "it changes the machine's network"},
	{"system", "hostname,domainname", all(someOperand, not(matching(`^-`))), "it changes the machine's name"},
	{"system", "resolvectl,systemd-resolve", some(exactly("revert"), all(exactly("dns domain default-route dnssec dnsovertls"), moreThan(2))), "it changes the machine's network"},
	{"system", "netplan", exactly("apply try set rebind"), "it changes the machine's network"},
	{"system", "networkctl", exactly("down delete reload reconfigure renew forcerenew mask"), "it changes the machine's network"},
	{"system", "tailscale", exactly("down logout serve funnel set lock"), "it changes the machine's network"},
	{"permissions", "tailscale up", flag("--ssh"), "it changes who may log in"},
	{"permissions", "x11vnc", not(flag("-localhost -help --help")), "it shows the screen to others"},
	{"permissions", "samba-tool user,samba-tool group", exactly("setpassword setexpiry create add delete disable enable addmembers removemembers rename move sensitive unlock"), "it changes who may log in"},
	{"system", "iwctl", exactly("disconnect forget"), "it changes the machine's network"},
	{"system", "rfkill", exactly("block"), "it changes the machine's network"},
	{"permissions", "ngrok", exactly("http tcp tls start tunnel"), "it shows a port of this machine to everybody"},
	{"permissions", "lt,localtunnel", flag("-p --port"), "it shows a port of this machine to everybody"},
	{"permissions", "code tunnel,code-server tunnel", not(exactly("--help help status kill prune unregister rename")), "it shows this machine to whoever has the account"},
	{"permissions", "Enable-PSRemoting,Set-PSSessionConfiguration,Enable-WSManCredSSP", nil, "it changes who may log in"},
	{"permissions", "bore local,zrok share,frpc,pagekite,expose share", nil, "it shows a port of this machine to everybody"},
	{"permissions", "cloudflared tunnel", some(flag("--url"), exactly("route run delete create cleanup")), "it shows a port of this machine to everybody"},

	{"system", "rndc,unbound-control,knotc,nsd-control,birdc", unless(0, 1, "stats,stats_noreset,status,zonestatus,lookup,dump_cache,list_stubs,list_local_zones,zone-read,zone-status,zone-check,conf-read,conf-check,conf-get,zonedata,dumpdb,recursing,testgen,secroots,get_option,eval,print_cookie_secrets"), "it changes a service of the machine"},
	{"system", "uci", exactly("set add delete rename reorder add_list del_list commit import batch"), "it changes settings of the machine"},
	{"system", "wifi", exactly("down up reload config reconf"), "it changes the machine's network"},
	{"system", "firstboot,jffs2reset", nil, "it removes all settings of the machine"},
	{"system", "vtysh", matching(`(?i)^(conf|clear|write|no |reload)|\bconf(igure)? t`), "it changes the machine's network"},
	{"permissions", "socat", all(matching(`(?i)-listen:`), matching(`(?i)^(exec|system|shell):`)), "it lets others run commands on this machine"},
	{"system", "socat,nc,ncat", all((*call).isFed, not((*call).fedQuestions), matching(`(?i)^((UNIX|OPEN|FILE|GOPEN)(-CONNECT|-CLIENT)?:)?(/(var/)?run/|/dev/tty(USB|ACM|AMA|S)\d)`)), "it commands a service of the machine"},
	{"system", "varnishadm", matching(`^(ban|stop|start|vcl|param\.set|backend\.set_health|storage|panic\.clear)`), "it changes a service of the machine"},
	{"system", "caddy reload,caddy stop,caddy trust,caddy untrust", nil, "it changes a service of the machine"},
	{"system", "squid", all(flag("-k"), exactly("shutdown reconfigure rotate kill interrupt restart")), "it changes a service of the machine"},
	{"system", "fs_cli", matching(`^(shutdown|fsctl|reload|unload|uuid_kill|hupall|originate)`), "it changes a service of the machine"},
	{"system", "haproxyctl", exactly("disable enable set shutdown clear del"), "it changes a service of the machine"},
	{"mail", "postqueue", flag("-f -i -s"), "it sends the mail that waits"},
	{"mail", "doveadm", unless(0, 2, "acl,auth,backup,config,director status,exec,fetch,fs,mailbox status,mailbox path,process,pw,quota,replicator,search,service,user,user-info,who,log,dump,index,penalty,instance,dict get,dict iter"), "it changes mail of users"},
	{"mail", "rspamc", matching(`^(learn_\w+|fuzzy_(add|del)|stat_reset)$`), "it changes what counts as spam"},
	{"mail", "spamassassin,spamc", flag("-r -k --report --revoke -C"), "it reports mail to others"},
	{"mail", "mailmanctl,mailman", exactly("stop restart reopen delete remove_members addmembers delmembers members notify"), "it changes a mailing list"},

	// Services and settings.
	{"power", "systemctl soft-reboot,systemctl hybrid-sleep,systemctl suspend-then-hibernate,systemctl exit,systemctl switch-root", nil, "it stops or restarts the machine"},
	{"system", "systemctl daemon-reexec,systemctl reload,systemctl try-restart,systemctl reload-or-restart,systemctl condrestart,systemctl revert,systemctl clean,systemctl freeze,systemctl preset-all,systemctl set-property", not(flag("--user")), "it changes which services of the machine run, or how"},
	{"system", "loginctl", exactly("kill-session terminate-session terminate-seat lock-sessions disable-linger"), "it ends what users run"},
	{"system", "busctl call,busctl set-property,dbus-send,gdbus call,qdbus", matching(`(?i)(^|\.)(reboot|poweroff|suspend|hibernate|halt|shutdown|(kill|stop|restart|disable|mask)\w*|delete\w*|format|remove\w*|uninstall\w*|terminate\w*|logout)$`), "it tells a service of the machine to stop or to remove something"},
	{"power", "pmset", exactly("sleepnow schedule repeat restoredefaults"), "it stops the machine, or changes when it does"},
	{"system", "softwareupdate", flag("-i --install -R --restart"), "it changes the machine, or restarts it"},
	{"system", "launchctl kickstart,launchctl kill,launchctl stop,launchctl disable,launchctl reboot", nil, "it changes which services of the machine run"},
	{"system", "snap revert,snap disable,snap stop,snap restart,snap set,snap unset", nil, "it changes software of the machine"},
	{"system", "logrotate", flag("-f --force"), "it puts the machine's logs away"},
	{"system", "pam-auth-update", flag("--force --remove --package --disable"), "it changes who may log in"},
	{"system", "nixos-rebuild,darwin-rebuild", exactly("switch boot test --rollback"), "it changes the machine"},
	{"system", "guix system,guix deploy", exactly("reconfigure switch-generation roll-back delete-generations deploy"), "it changes the machine"},
	{"remove", "nix store,nix profile", exactly("gc delete wipe-history"), "it removes what others may use"},
	{"remove", "nix-store", all(flag("--gc --delete"), not(flag("--print-dead --print-live --print-roots"))), "it removes what others may use"},
	{"remove", "guix gc", not(flag("--list-dead --list-live --list-roots --references --referrers --verify --list-failures")), "it removes what others may use"},
	{"send", "nix copy", func(c *call) bool { w, ok := c.FlagValue("--to"); return ok && isElsewhere.MatchString(w.Value) }, "it copies packages to another machine"},
	{"send", "nix-copy-closure", not(flag("--from --help")), "it copies packages to another machine"},
	{"system", "certbot", some(exactly("certonly renew run install rollback enhance"), flag("--nginx --apache --standalone --webroot")), "it asks for certificates, which are public, or changes them"},
	{"system", "acme.sh", flag("--issue --renew --renew-all --revoke --remove --install-cert --deactivate --deploy"), "it asks for certificates, which are public, or changes them"},
	{"system", "wevtutil", matchingFold("cl clear-log sl set-log um"), "it removes what the machine records"},
	{"system", "manage-bde,dism,fsutil,gpupdate,setx,secedit,auditpol,powercfg", matching(`(?i)^[/-](off|lock|disable|forcerecovery|delete|disable-feature|remove-\w+|set-\w+|cleanup-image|m|force|configure|set|clear|restore|h|change)$|^(file|usn|behavior)$`), "it changes settings of the machine"},
	{"remove", "cipher", matching(`(?i)^/w:`), "it overwrites what was removed"},
	{"system", "schtasks", matchingFold("/delete /end /create /change"), "it changes what the machine runs"},
	{"system", "sc", matchingFold("delete stop config create failure"), "it changes which services of the machine run"},
	{"system", "reg", matchingFold("delete add import restore load unload"), "it changes settings of the machine"},
	{"system", "netsh", matchingFold("set add delete reset"), "it changes the machine's network"},
	{"system", "bcdedit", matching(`(?i)^/(set|delete\w*|create|import|default)$`), "it changes how the machine starts"},
	{"remove", "vssadmin,wbadmin", matchingFold("delete"), "it removes backups"},
	{"system", "wmic", matchingFold("delete uninstall terminate call"), "it changes the machine"},

	// Devices, and machines beside this one.
	{"send", "adb shell", matching(`^(input|setprop|svc|reboot|dd|su)\b|^am (broadcast|force-stop|kill)|^settings (put|delete)|^pm (clear|uninstall|disable|grant|revoke)|^content (insert|delete|update)`), "it commands a device"},
	{"send", "adb shell", all(exactly("am settings pm content"), exactly("broadcast force-stop put delete insert update disable-user grant revoke")), "it commands a device"},
	{"disk", "adb sideload,adb restore,adb disable-verity,adb remount", nil, "it changes the system of a device"},
	{"disk", "idevicerestore", someArgument, "it overwrites a device"},
	{"remove", "ideviceinstaller", flag("-U --uninstall uninstall"), "it removes what is on a device"},
	{"disk", "cargo flash,cargo embed,cargo espflash", nil, "it overwrites what a device starts from"},
	{"disk", "mbed,mbed-tools", flag("-f --flash"), "it overwrites what a device starts from"},
	{"power", "fence_ipmilan,fence_apc,fence_ilo,fence_ilo4,fence_idrac,fence_vmware_soap,fence_vmware_rest,fence_aws,fence_gce,fence_azure_arm,fence_virsh,fence_xvm,fence_redfish", exactly("off reboot on cycle"), "it stops or restarts another machine"},
	{"system", "ipmitool", all(exactly("set bootdev bootparam clear delete upload write"), not(exactly("get"))), "it changes how another machine runs or starts"},
	{"infrastructure", "virsh", matching(`^(snapshot-(revert|delete)|[\w-]+-(destroy|undefine|delete|wipe)|detach-[\w-]+|setmem|setvcpus|migrate|restore|save|managedsave|suspend|reboot|block(commit|pull|resize)|vol-(upload|resize))$`), "it stops or changes a machine"},
	{"infrastructure", "vmrun", exactly("stop reset suspend pause deleteVM revertToSnapshot deleteSnapshot"), "it stops or removes a machine"},
	{"infrastructure", "docker-machine", exactly("rm stop kill restart provision"), "it stops or removes a machine"},
	{"infrastructure", "vagrant snapshot,vagrant box,vagrant cloud", exactly("restore delete pop remove prune publish"), "it changes a machine, or removes what it starts from"},
	{"remote", "ansible-pull,ansible-console,salt-call,salt-run,salt-cp,mco,chef-solo,chef-run,mussh", all(someArgument, not(some(asksHosts, flag("--check -C --list-hosts --noop --why-run -W --version --help")))), "it changes machines"},
	{"remote", "puppet agent", all(flag("-t --test --onetime"), not(flag("--noop --help"))), "it changes the machine as somebody else has told"},
	{"remote", "ssh", all(feedsShell, not(flag("-N -G -V"))), "it runs on another machine what it is fed"},

	// Buses, pins, robots and printers.
	{"send", "cansend,cangen,canplayer,i2cset,i2ctransfer,spi-config", someArgument, "it commands a device"},
	{"send", "gpioset,pinctrl,raspi-gpio,gpio", some(matching(`^(GPIO)?\d+=\d`), exactly("set write toggle")), "it commands a device"},
	{"send", "vcgencmd", matching(`^set_|^(otp_write|pm_set)`), "it commands a device"},
	{"system", "raspi-config", matching(`^do_`), "it changes settings of the machine"},
	{"disk", "rpi-eeprom-update", flag("-a -d -f -r"), "it overwrites what the machine starts from"},
	{"system", "mokutil", flag("--import --delete --reset --revoke-import --disable-validation --set-verbosity --clear-password --password -i -d"), "it changes what the machine starts from"},
	{"system", "sbctl", exactly("enroll-keys reset rotate-keys create-keys"), "it changes what the machine starts from"},
	{"system", "efivar", flag("-w --write -a --append"), "it changes what the machine starts from"},
	{"send", "modbus,bacnet,opcua", exactly("write set call"), "it commands a device"},
	{"send", "mbpoll", func(c *call) bool { return len(c.operands("-m -a -r -c -t -1 -b -d -s -P -p -l -o -R")) > 1 }, "it commands a device"},
	{"send", "ros2,rosservice,rostopic,rosparam,rosaction", some(exactly("call pub send_goal"), all(exactly("param set"), not(exactly("get list")))), "it commands a robot"},
	{"send", "mavproxy.py,mavproxy", flag("--cmd"), "it commands a robot"},
	{"send", "octoprint-cli,klipperctl,tasmota-cli,homeassistant-cli", all(exactly("print start cancel pause resume gcode home call on off toggle power restart"), not(exactly("status list"))), "it commands a device"},
	{"disk", "esphome run,esphome upload", nil, "it overwrites what a device starts from"},
	{"infrastructure", "ha", unless(0, 2, "authentication,banner,cli,docker,observer,landingpage,core,host,os,supervisor,backups,addons,apps,audio,dns,multicast,network,jobs,resolution,store,hardware,mounts,available-updates"), "it changes a machine"},
	{"infrastructure", "ha core,ha host,ha os,ha supervisor,ha backups,ha addons,ha network,ha store,ha mounts", unless(1, 1, "new"), "it changes a machine"},

	// Arrays, switches, file systems of many machines, and Windows.
	{"system", "ovs-vsctl,ovn-nbctl,ovn-sbctl,ovs-ofctl,ovs-appctl,ovs-dpctl", not(some(exactly("show list find get dump-flows dump-ports dump-tables dump-ports-desc list-br list-ports br-exists ls-list lr-list acl-list fdb/show dpif/show ofproto/trace vlog/list bond/show lacp/show list-commands version"), matching(`^(list|dump|show|get)-|-list$|/(show|list|stats-show)$`))), "it changes the machine's network"},
	{"system", "lctl,mmshutdown,mmchconfig,mmdelsnapshot,mmdelfs,mmcrfs,mmdelnode,beegfs-ctl,mfssetgoal", all(someArgument, not(some(exactly("list get_param dl device_list ping"), matching(`^--(list|get|show)`)))), "it changes a storage of many machines"},
	{"disk", "storcli,storcli64,perccli,perccli64,ssacli,hpssacli,hpacucli,arcconf,megacli,MegaCli,MegaCli64,sas2ircu,sas3ircu", all(matching(`(?i)(del\w*|erase|clear|init|set\w*|modify|create|remove|format|restore|unconf\w*|offline|add\w*|flash|download|start)$|^-(Cfg|Ld|Pd|Adp)\w*(Del|Clr|Clear|Add|Set|Off|Init|Prp)|^(delete|add|create|set|start)`), not(exactly("show display list getconfig"))), "it changes an array of disks"},
	{"disk", "format", matching(`^[A-Za-z]:$`), "it makes a file system where something may be"},
	{"system", "net", some(matchingFold("/add /delete stop start leave join /active:no /active:yes"), matching(`(?i)^/(add|delete)`)), "it changes users or services of the machine"},
	{"system", "icacls,cacls,takeown,msiexec", matching(`(?i)^[/-](x|i|f|p|g|e|r|d|grant|deny|remove|setowner|reset|inheritance|restore|setintegritylevel)(:\w+)?$`), "it changes permissions or software of the machine"},
	{"remove", "robocopy", matchingFold("/mir /purge /move /mov"), "it removes files at its destination"},
	{"system", "exportfs", flag("-u -r -a -f -i"), "it changes what the machine shares"},
	{"disk", "multipathd", matching(`^(-k)?(reconfigure|resize|remove|del|disable|fail|reinstate|suspend|resume|shutdown)\b`), "it changes what disks are seen"},
	{"containers", "podman machine,docker machine", exactly("rm reset"), "it removes a machine with its data"},

	// What orders other machines about.
	{"remote", "salt-key", all(someArgument, not(some(flag("-l -L -f -F -p -P"), matching(`^--(list|finger|print|gen-keys)`)))), "it changes which machines obey"},
	{"remote", "salt-cloud", not(some(flag("-Q -F -S -l --query --full-query --select-query --version --help"), matching(`^--(list|show)`))), "it makes or removes machines"},
	{"remote", "openstack-ansible,ceph-ansible,ansible-runner,ansible-navigator,cf-runagent,itamae ssh,kitchen converge,kitchen destroy,tsh ssh,rke up,rke remove", not(some(flag("--check --list-hosts --syntax-check --version --help"), exactly("doc inventory config images collections lint explain replay"))), "it changes other machines"},
	{"remote", "plink,clogin,jlogin,flogin,hlogin,nlogin,winrs,psexec,psexec.py,wmiexec.py,smbexec.py,netmiko-cfg,Invoke-Command", not(showsDevice), "it runs something on another machine"},
	{"remote", "nixos-anywhere,deploy-rs,comin,clan machines", not(flag("--help --vm-test --dry-activate")), "it changes other machines"},
	{"remote", "cf-agent,rudder agent", not(flag("-n --dry-run -h --help -V")), "it changes the machine as somebody else has told"},

	// Tapes and backups of many machines.
	{"disk", "mt", exactly("erase weof eof wset setpartition mkpartition"), "it overwrites a tape"},
	{"disk", "tar,bsdtar,cpio,dump", all(matching(`^(-f|--file=)?/dev/n?(st|tape|sa)\d`), not(some(flag("-t --list -x --extract"), matching(`^-?[a-z]*[tx][a-z]*$`)))), "it overwrites a tape"},
	{"remove", "amlabel", flag("-f"), "it overwrites a tape"},
	{"remove", "bconsole,dsmadmc", func(c *call) bool { return dropsBackups.MatchString(c.line.Source) }, "it removes backups"},
	{"remove", "nsrmm,nsrim", flag("-d -X"), "it removes backups"},
	{"remove", "nbemmcmd,bpexpdate", flag("-deletemedia -deleteallmedia -d -recalculate"), "it removes backups"},

	// Storms.
	{"send", "ab,wrk,wrk2,hey,siege,bombardier,oha,autocannon,h2load,locust,plow,fortio,sqlmap,hydra,medusa,nikto,gobuster,ffuf,feroxbuster,masscan,hping3,slowhttptest,wfuzz,dirb,wpscan,patator", all(some(matching(`^[\w+.-]+://`), flag("-H --host -u --url")), not(staysAtHome)), "it attacks or floods another machine"},
}

// isFed reports whether a call is given something to read.
func (c *call) isFed() bool { return c.Piped || c.Fed }

var dropsBackups = lazyregexp.New(`(?i)\b(delete|purge|prune|truncate|relabel|cancel|expire)\s`)

// moreThan returns the condition that there are more than n operands.
func moreThan(n int) func(*call) bool {
	return func(c *call) bool { return len(c.operands("")) > n }
}

// feedsShell reports whether ssh is given no command, but something to read that does more than show something.
func feedsShell(c *call) bool {
	ws := c.operands("-b -c -D -E -e -F -i -J -L -l -m -O -o -p -Q -R -S -W -w")
	if !c.isFed() || len(ws) != 1 || local(ws[0].Value[strings.LastIndexByte(ws[0].Value, '@')+1:]) {
		return false
	}
	texts := c.fedTexts()
	return !c.fedQuestions() && (len(texts) == 0 || slices.ContainsFunc(texts, func(text string) bool { return !c.textReads(text) }))
}
