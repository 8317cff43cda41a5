package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// What runs on another machine, in a pod or on many machines changes nothing there if each of its commands only
// reads.

// readsAlone reports whether each call of a line only reads, and the line writes no file.
func readsAlone(l *shell.Line, at Place) bool {
	if len(l.Calls) == 0 || slices.ContainsFunc(l.Redirects, func(rd shell.Redirect) bool { return rd.Writes() && rd.Target.Value != "/dev/null" && rd.Op != ">&" }) {
		return false
	}
	for i := range l.Calls {
		if c := (&call{Call: &l.Calls[i], line: l, at: i, place: at}); !c.reads() {
			return false
		}
	}
	return true
}

// textReads reports whether a text is lines of a shell that only read.
func (c *call) textReads(text string) bool {
	if c.place.depth >= maxEmbedded {
		return false
	}
	l, err := shell.Read(text, "bash", "")
	if err != nil {
		return false
	}
	at := c.deeper()
	at.Cwd, at.Tree = "", []string{"/nowhere"}
	for i := range l.Calls {
		l.Calls[i].Abroad = true
	}
	return readsAlone(l, at)
}

// What programs do that read, or read unless a word of the call says otherwise.
var (
	// shellWords change their shell alone. changers are the programs that read but for some words, with what tells them.
	shellWords = words("set export exit return : true false printf read local declare sleep command type hash umask")
	changers   = map[string]func(*call) bool{
		"sed":        some(flag("-i --in-place"), matching(`^-[a-zA-Z]*i|^(.*[;}] *)?w /|/w /`)),
		"find":       exactly("-delete -fprint -fls -fprintf -fprint0"),
		"ip":         abbreviated,
		"ifconfig":   func(c *call) bool { return len(c.operands("")) > 1 },
		"hostname":   func(c *call) bool { return len(c.operands("")) > 0 || c.Flag("-F", "--file") },
		"date":       some(flag("-s --set"), matching(`^\d{8}`)),
		"dmesg":      flag("-C --clear -c --read-clear -n --console-level -D -E"),
		"journalctl": matching(`^--(vacuum|rotate|flush|sync|relinquish|setup)`),
		"sort":       flag("-o --output"),
		"ss":         flag("-K --kill"),
		"yq":         flag("-i --inplace"),
		"arp":        flag("-d -s -f"),
		"xxd":        func(c *call) bool { return len(c.operands("-s -l -c -g")) > 1 },
		"uniq":       func(c *call) bool { return len(c.operands("-f -s -w")) > 1 },
		"tree":       flag("-o"),
		"sar":        flag("-o"),
		"awk":        matching(`system\(|print[^|]*[|>]`),
	}
	sendsOrSaves = some(flag("-d -F -T -Q --json --form --form-string --upload-file --quote --mail-rcpt -o -O --output --remote-name --remote-name-all -K --config -J -c --cookie-jar -D --dump-header"), matching(`^--data|^-[a-zA-Z]*[dFToO]$`))
	// plain have no words that change something, askable are told by their first words what they do.
	plain   = words("pg_isready pg_lsclusters pvs vgs lvs lspci lsusb lshw lscpu nvidia-smi lsns dmidecode sensors atq mailq pwd quota repquota showmount smbstatus testparm needs-restarting nproc lsmod lsof getent groups sar vmstat iostat mpstat basename dirname realpath readlink tr xargs tac jq yq diff cmp sha1sum sha512sum cksum arch locale sestatus getenforce getfacl lsattr zgrep egrep fgrep rg tree column show display include exclude begin section match count except no-more pgrep pidof pstree findmnt blkid strings od xxd hexdump dig host nslookup traceroute mtr tracepath arp last lastb")
	askable = words("kubectl oc crictl git rabbitmqctl etcdctl ceph rados consul vault nomad patronictl repmgr zpool zfs crm pcs gluster nodetool rpm dpkg-query snap timedatectl hostnamectl loginctl nmcli virsh nats mc redis-sentinel supervisorctl pm2 birdc vtysh keepalived")
	// packers write to their standard output where they have no operand, and else replace a file.
	packers  = words("gzip gunzip zstd unzstd xz unxz bzip2 bunzip2 pigz lz4 lzop brotli")
	unitAsks = words("status show cat is-active is-enabled is-failed is-system-running get-default help")
)

// readings has programs that read if they are told so, or unless they are told otherwise.
var readings = map[string]func(*call) bool{
	"pg_dump":         not(flag("-f --file")),
	"pg_dumpall":      not(flag("-f --file")),
	"mysqldump":       not(flag("-r --result-file -T --tab --flush-logs -F --delete-master-logs --delete-source-logs --flush-privileges --dump-replica --dump-slave")),
	"mariadb-dump":    not(flag("-r --result-file -T --tab --flush-logs -F --delete-master-logs --flush-privileges --dump-slave")),
	"git":             some(exactly("rev-parse describe ls-files ls-remote blame shortlog cat-file rev-list show-ref for-each-ref"), all(exactly("branch tag remote stash worktree"), some(flag("-l -v -a -r --list -vv --show-current"), exactly("list"), not(moreThan(1)))), (*call).asks),
	"gerrit":          matching(`^(query|version|ls-\w+|show-\w+)$`),
	"nft":             exactly("list"),
	"mount":           not(someOperand),
	"tcpdump":         not(flag("-w -z")),
	"ipset":           func(c *call) bool { return c.Sub() == "list" || c.Sub() == "test" },
	"fail2ban-client": exactly("status ping get"),
	"ufw":             exactly("status show"),
	"swapon":          flag("--show -s"),
	"mdadm":           flag("--detail --examine -D -E --query -Q"),
	"sysctl":          all(not(matching(`=`)), not(flag("-w -p --load --system --write"))),
	"python":          asksProject,
	"python3":         asksProject,
	"rails":           asksProject,
	"rake":            asksProject,
	"php":             asksProject,
	"nginx":           flag("-t -T -v -V"),
	"apachectl":       flag("-t -S -M -v"),
	"sshd":            flag("-t -T"),
	"haproxy":         flag("-c -v -vv"),
	"crontab":         flag("-l"),
	"dpkg":            flag("-l -L -s -S --list --status --listfiles --search --print-architecture"),
	"rpm":             matching(`^-q|^--query`),
	"apt":             exactly("list show policy search"),
	"apt-cache":       someArgument,
	"iptables":        all(some(flag("-S --list-rules"), matching(`^-[nv]*L[nv]*$|^--list$`)), not(flag("-Z --zero -F -D -A -I -P -X -R -N"))),
	"smartctl":        not(flag("-t --test -s --set -o --offlineauto -S --saveauto -X --abort")),
	"openssl":         all(exactly("x509 verify version s_client crl req rsa pkey ciphers"), not(flag("-out -keyout -CAcreateserial -signkey -sign"))),
	"chronyc":         exactly("sources sourcestats tracking activity ntpdata"),
	"kafka-topics":    flag("--list --describe"),
	"kafka-topics.sh": flag("--list --describe"),
}

// asksProject reports whether the console of a project is asked for its state.
func asksProject(c *call) bool {
	return exactly("showmigrations check diffsettings sqlmigrate inspectdb dumpdata db:migrate:status db:version migrate:status routes route:list about -V --version -v")(c) && c.place.judge != nil && len(c.place.judge(c)) == 0
}

// reads reports whether a call only reads where it runs.
func (c *call) reads() bool {
	if changes, ok := changers[c.Name]; ok && changes(c) {
		return false
	}
	_, isClient := clients[c.Name]
	switch {
	case c.Name == "":
		return c.Head.Text == "" // assignments alone
	case c.Name == "set" && len(c.Args) > 0 && !strings.ContainsAny(c.Args[0].Value[:min(1, len(c.Args[0].Value))], "-+"):
		return false // of a device of the network
	case c.Abroad && ofRouter.MatchString(c.Head.Value):
		return exactly("print export monitor ping")(c) && !exactly("remove set add disable enable reset unset move edit import run")(c)
	case c.Wraps, shellWords[c.Name], shows[c.Name], plain[c.Name], c.onlySays():
		return true
	case c.Name == "systemctl":
		return unitAsks[c.Sub()] || strings.HasPrefix(c.Sub(), "list-") || c.Sub() == ""
	case c.Name == "service":
		ws := c.operands("")
		return len(ws) == 2 && ws[1].Value == "status" || c.Flag("--status-all")
	case c.Name == "docker" || c.Name == "podman":
		ws := c.operands("-f --file -p --project-name")
		for len(ws) > 0 && dockerGroups[ws[0].Value] {
			ws = ws[1:]
		}
		return len(ws) > 0 && dockerShows[ws[0].Value]
	case c.Name == "tar":
		return archivesToOutput(c)
	case isClient:
		return c.statesQuestions()
	case shells[c.Name]:
		return c.Document != nil && c.textReads(*c.Document)
	case packers[c.Name]:
		return c.Piped && c.Drained && len(c.operands("")) == 0 || c.Flag("-c", "--stdout", "-t", "-l")
	case readings[c.Name] != nil:
		return readings[c.Name](c)
	case c.Name == "curl": // there localhost is another machine
		m, said := c.FlagValue("-X", "--request")
		return (!said || words("GET HEAD OPTIONS")[m.Value]) && !uploads(c) && !sendsOrSaves(c)
	case c.Name == "socat" || c.Name == "nc":
		return c.fedQuestions()
	}
	if len(c.Args) == 0 {
		return askable[c.Name]
	}
	return !files[c.Name] && !shells[c.Name] && (c.asks() || len(c.Args) == 1 && flag("--version -V -v --list --status --show")(c)) && c.place.judge != nil && len(c.place.judge(c)) == 0
}

// ofRouter matches the menus of RouterOS.
var ofRouter = lazyregexp.New(`^/(ip|ipv6|interface|system|user|queue|routing|tool|certificate|file|log|ppp|radius|snmp)$`)

// bundledWord matches the flags of tar that are written in one word, with or without a hyphen.
var bundledWord = lazyregexp.New(`^-?[a-zA-Z]+$`)

// archivesToOutput reports whether tar writes what it packs to its standard output, or only lists.
func archivesToOutput(c *call) bool {
	if len(c.Args) == 0 || c.Flag("--remove-files", "--to-command", "--use-compress-program", "-I") || c.matches(checkpoints) {
		return false
	}
	mode, file := "", ""
	for i, w := range c.Args {
		if !bundledWord.MatchString(w.Value) || i > 0 && !strings.HasPrefix(w.Value, "-") {
			continue
		}
		mode += strings.TrimPrefix(w.Value, "-")
		if strings.HasSuffix(w.Value, "f") && i+1 < len(c.Args) {
			file = c.Args[i+1].Value
		}
	}
	return !strings.ContainsAny(mode, "xruA") && (c.Flag("--list") || strings.Contains(mode, "t") || strings.Contains(mode, "c") && file == "-")
}

// checkpoints matches the flag with which tar runs something now and then.
var checkpoints = lazyregexp.New(`^--checkpoint-action|^--(info|new-volume)-script|^-F$`)

// statesQuestions reports whether a client of a database is given questions alone.
func (c *call) statesQuestions() bool {
	client := clients[c.Name]
	if c.Name == "redis-cli" || c.Name == "valkey-cli" {
		ws := c.operands("-h -p -a -n -u -i -r --user --pass --cacert --cert --key --pattern --count")
		if len(ws) == 0 {
			return false
		}
		verb := strings.ToLower(ws[0].Value)
		return asksRedis[verb] || len(ws) > 1 && askRedisGroups[verb] && askRedisOf(ws[1].Value)
	}
	texts := c.fedTexts()
	for i, w := range c.Args {
		name, value, equals := strings.Cut(w.Value, "=")
		switch {
		case w.Value == "-f" || name == "--file":
			return false
		case i > 0 && strings.Contains(" "+client.statement+" ", " "+c.Args[i-1].Value+" "):
			texts = append(texts, w.Value)
		case equals && strings.HasPrefix(name, "--") && strings.Contains(" "+client.statement+" ", " "+name+" "):
			texts = append(texts, value)
		case len(w.Value) > 2 && strings.Contains(" "+client.statement+" ", " "+w.Value[:2]+" ") && !strings.HasPrefix(w.Value, "--"):
			texts = append(texts, w.Value[2:])
		case c.Name == "psql" && w.Value == "-l" || c.Name == "psql" && len(w.Value) > 2 && w.Value[0] == '-' && w.Value[1] != '-' && strings.HasSuffix(w.Value, "c") && i+1 < len(c.Args):
			// -l lists the databases; in -tAc the statement follows.
			if w.Value == "-l" {
				return true
			}
			texts = append(texts, c.Args[i+1].Value)
		}
	}
	return len(texts) > 0 && !destroysData(c) && !slices.ContainsFunc(texts, func(text string) bool { return changesBy(c.Name, text) || asksToWrite.MatchString(text) })
}

// asksToWrite matches what a question may do besides: end a session, write a file, call what changes something.
var asksToWrite = lazyregexp.New(`(?i)\b(into\s+(outfile|dumpfile|\w)|pg_(terminate|cancel|reload|switch|drop|promote|rotate|create|replication\w*_(drop|create|advance))\w*|setval|lo_unlink|dblink_exec|for\s+update|\\!|\\copy|\\o\s)|\\(!|copy|o\s|i\s)|\bset\s+(global|persist)|\bshow\s+.*\bkill\b|\bwith\b.*\b(delete|update|insert)\b`)

// askRedisGroups are commands of Redis whose second word says whether they ask.
var askRedisGroups = words("config client cluster acl")

// runsReaders reports whether all that a call runs elsewhere only reads.
func (c *call) runsReaders() bool {
	if !c.Wraps {
		return false
	}
	for _, rd := range c.line.Redirects {
		if rd.Abroad && rd.Writes() && rd.Target.Value != "/dev/null" {
			return false
		}
	}
	n := 0
	for i := c.at + 1; i < len(c.line.Calls) && c.line.Calls[i].Abroad; i++ {
		if o := (&call{Call: &c.line.Calls[i], line: c.line, at: i, place: c.place}); !o.reads() {
			return false
		}
		n++
	}
	return n > 0
}

// readsThere reports whether what a platform is told to run in an app only reads.
func readsThere(c *call) bool {
	return c.textReads(joined(shell.Operands(c.After(), "-a --app -r --remote -s --size --type -e --env")))
}
