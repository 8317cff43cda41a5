package danger

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// The table names programs, and there are always others. What follows holds for programs that it has no
// rule for. It looks for what is said to a program only to do what can't be taken back: a verb in its name,
// in its first words, in a flag, or in the value of a flag that names an action; a disk to work on; and
// another machine or a person that something is sent to.

// A verb's weight says where it counts.
const (
	// strong verbs count as any of the first three words, in a flag, and in a program's name.
	strong = iota + 1
	// first verbs count as the first word only: later they are names.
	first
	// pressed verbs count if something as --yes or --force stands beside them, or the program runs as root.
	pressed
)

// verb is a word and what it endangers.
type verb struct {
	kind   string
	weight int
}

// verbs maps words to what they say. A word may be a part of a longer one: apps:destroy, pool-delete,
// deleteTopic.
var verbs = func() map[string]verb {
	m := map[string]verb{}
	for _, l := range []struct {
		kind   string
		weight int
		words  string
	}{
		{"remove", strong, "delete destroy purge erase wipe nuke obliterate expunge shred zap"},
		{"infrastructure", strong, "undeploy deletion terminate revoke decommission deprovision teardown redeploy deploy deregister unregister failover"},
		{"publish", strong, "publish unpublish republish yank"},
		{"send", strong, "upload"},
		{"system", strong, "uninstall autoremove depclean unmerge"},
		{"power", strong, "shutdown poweroff reboot hibernate"},
		{"power", first, "halt"},
		{"remove", first, "rmr empty untag uninit free rb clear remove rm rmi del drop prune trash truncate forget expire discard rollback restore unlink overwrite vacuum reset format flush"},
		{"infrastructure", first, "evict drain kill killall cancel abort ban unban suspend promote demote transfer rotate leave stop restart disable scale modify approve recreate deactivate kick hold resize trigger quiesce offline approve reject cull"},
		{"disk", first, "flash burn"},
		{"publish", first, "push release submit"},
		{"send", first, "put unsubscribe refund send share post email mail notify broadcast tweet toot sms dm pub buy purchase pay attack flood deauth inject"},
		{"system", pressed, "clean cleanup mask unload detach apply sync reinstall downgrade revert unset gc down"},
	} {
		for _, w := range strings.Fields(l.words) {
			m[w] = verb{l.kind, l.weight}
		}
	}
	return m
}()

var (
	bareWord = lazyregexp.New(`^[A-Za-z][A-Za-z0-9:_-]*$`)
	// compound matches verbs that are written together with what they remove.
	compound = lazyregexp.New(`^((delete|destroy|remove|purge|wipe|erase|drop|kill|uninstall|del|rm)(all|db|table|user|group|node|item|files?|bucket|queue|snap(shot)?|key|vm|repo|index|topic|dir|image|volume|stack|server|host|site|app)s?|(user|group|node|host|lv|vg|pv)(del|rm|remove)|factory-?reset|(re|)set-?(\w+-)?passw(or)?d|change-?(\w+-)?passw(or)?d|tear-down|power-?off|collect-garbage|clear-?(snapshots?|data|db|all|storage|messages|range)|send-?(payment|coins|toaddress|many|rawtransaction|message|event|mail|sms)|purchase(-\w+)*|(safe|force|hard|soft|graceful|rolling)-?(restart|stop|shutdown|reload)|self-destruct|clean-up|run-now|quiet-?down|(un)?set-\w+-?mode|upgrade-(controller|model|cluster)|(delete|destroy|remove|purge|uninstall|terminate|undeploy|unpublish)[a-z]*[a-ce-qt-z]|(?:[a-tv-z][a-z]{0,11}|u|)(delete|destroy|purge|terminate|uninstall|undeploy|unpublish|failover))$`)
	// endings match short names of programs that end with such a verb: npurge, scancel, qdel, bkill.
	endings = lazyregexp.New(`^([\w-]*(upload(er)?|pusher|pastebin|[a-z]paste)|mega(put|rm|copy|mv)|[a-z]{0,8}(purge|wipe|uninstall|cancel)|[a-z]{0,5}kill|[a-z]{0,2}del|(at|lp|ipc|q)rm|[bq](stop|resume|hold|rls|alter|rerun|sig|chkpnt)|condor_(rm|hold|vacate\w*|off|restart)|.*-collect-garbage)$`)
	// cmdlet matches commands of PowerShell that change the machine, or what others use.
	cmdlet = lazyregexp.New(`^(?i:set|new|add|enable|disable|move|grant|rename|start|update|import|install|initialize|format|mount|dismount|resize|register|save|publish|complete|approve|suspend|resume|sync)-(AD|Az|Mg|EC2|S3|RDS|IAM|SSM|VM|HA|DA|Cluster|Dns|Dhcp|Net(?:Adapter|Firewall|IP|Route)|Disk|Volume|Partition|Storage|Service|Local(?:User|Group)|ExecutionPolicy|Mailbox|Distribution|Transport|CsTeam|Team|SPO|PnP|EXO|Web(?:Site|App|Binding)|GPO?|IIS|Computer|ScheduledTask|WindowsFeature|Windows(?:Optional)?|BitLocker|Acl|Dsc|Sql|Exchange|Printer|Smb|Xen)\w*`)
	// isAddress matches the address of a person.
	isAddress = lazyregexp.New(`^[\w.+-]+@[\w-]+(\.[\w-]+)+$`)
	// isElsewhere matches a place on another machine or in another storage.
	isElsewhere = lazyregexp.New(`^([\w.-]+@[\w.-]+:(?:[^0-9a-f]|[0-9a-f]{0,63}(?:[^0-9a-f]|$))|[\w.-]{2,}::?(/([^/]|$)|~)|(s3[an]?|gs|gcs|ftps?|sftp|scp|rsync|swift|abfss?|wasbs?|az|azure|adl|b2|r2|bos|obs|oss|cosn?|ks3|tos|sj|minio|gdrive|dbfs|lakefs|webdavs?|davs?|rtmps?|srt|mailto|ssh|git\+ssh|hdfs|webhdfs|smb|nfs|afp)://)`)
	// mailers are names of programs that send messages.
	mailers = lazyregexp.New(`mail|mutt|smtp|(^|[-_])(send|sms|tweet|toot|telegram|slack|xmpp)|(send|push|post)(er)?$`)
	// chats matches names of programs that write to people, by the service that carries it.
	chats = lazyregexp.New(`^((slack|discord|telegram|pushover|gotify|ntfy|mattermost|msteams|teams|webhook|irc|pushbullet|zulip|rocketchat|signal|whatsapp)([-_.]?(notify|notifier|cli|cat|send|post|msg|message|alert|bot|sh))?|(notify|alert|post)[-_.](slack|discord|telegram|teams|mattermost|webhook|sms|email))$`)
	// sqlVerbs match what removes data, in any query language.
	sqlVerbs = lazyregexp.New(`(?i)\b(drop\s+(table|database|schema|index|collection|keyspace|user|role|view|bucket|measurement)|detach\s+delete|alter\s+table\s|update\s+\w+\s+set\s|truncate\s+(table\s+)?\w|delete\s+from\s+[\w."]+\s*(where|;|$|'|")|flushall|flushdb|dropdatabase\s*\(|deletemany\s*\()`)
	methods  = lazyregexp.New(`^(POST|PUT|PATCH|DELETE)$`)
	// mutation matches what changes something in GraphQL.
	mutation = lazyregexp.New(`^\s*mutation\b`)
)

var (
	// textPrograms take words that are text or names, so that no word of theirs says what they do.
	textPrograms = words(`: echo printf print grep egrep fgrep rg ag ack sed awk gawk cat head tail less more man info tldr help which type command whatis
		apropos test [ [[ expr true false export set declare local alias cd ls tree find fd locate sort uniq cut tr wc tee diff cmp jq yq xmllint curl wget http https xh xhs
		cp mv mkdir touch ln chmod vim nvim vi nano emacs code node python python3 ruby perl php gcc clang tar zip unzip gzip psql mysql sqlite3
		string abbr bind commandline tmux screen last lastb R Rscript julia cscope ctags exiftool gifsicle mkvpropedit calcurse swipl gprolog yap todo.sh task task-warrior hledger date basename dirname read trap
		join paste comm fold fmt nl pr od xxd hexdump strings column split csplit tac rev shuf tsort numfmt iconv expand unexpand m4 bc dc patch sponge
		base64 base32 md5sum sha1sum sha256sum sha512sum b2sum cksum sum envsubst msgfmt msgmerge xgettext cc c++ as ld ar flex bison yacc lex groff troff
		return exit shift eval source xargs env time sleep wait jobs fg bg id whoami seq yes look dict espeak say figlet cowsay lolcat notify-send zenity dialog ldapsearch
		pytest py.test jest vitest mocha rspec phpunit playwright ctest behave coverage act
		thrift mlr Get-Help Get-Command Get-Member Get-ChildItem Get-Content xdotool xclip pbcopy pbpaste wl-copy wl-paste passwd shellcheck shfmt crontab at batch history fc crudini`)
	// ownPrograms have verbs about what is theirs alone, or a project's: only what is seen elsewhere, or ends a
	// whole thing, counts.
	ownPrograms = words(`git make gmake ninja just go cargo rustup npm yarn pnpm bun npx pip pip3 pipx uv uvx poetry pdm conda mamba gem bundle rake composer
		javac java mvn gradle sbt dotnet cmake ctest docker podman nerdctl buildah direnv asdf mise nvm pyenv rbenv sdk flutter dart swift mix stack cabal ghc meson rebar3 pipenv
		pm2 pueue pg_ctl forever overmind honcho foreman goreman hivemind scoop inotifywait inotifywatch jj hg svn bzr fossil brew prettier eslint biome ruff black buf deno nuget terraform tofu cradle crystal shards nimble luarocks opam elm spago nix bazel pants xcodebuild`)
	seenElsewhere = words("publish unpublish republish yank upload deploy undeploy redeploy destroy terminate decommission deprovision")
	// diskReaders only look at a disk, or use it as the machine does every day.
	diskReaders = words(`lsblk blkid smartctl udevadm file stat df du cat head tail hexdump xxd od strings dumpe2fs e2label xfs_info fsarchiver ddrescue photorec testdisk
		ls readlink realpath findmnt iostat blockdev sync eject dmsetup lsof partx kpartx qemu-nbd ntfsinfo btrfs dislocker ntfsfix udiskie gnome-disks hdparm nvme
		nanddump mtd_debug mount umount ntfs-3g ntfscat ntfscp ntfsls ntfsclone e2image grub-probe os-prober cmp sha256sum sha1sum md5sum test [ ln fuser bat less pv ioping fio hddtemp`)
	// actionFlags have a verb as their value.
	actionFlags = words("--action --command --cmd --operation --op --do --task --method --request --mode --function --perform -action")
	// pressing flags say that nothing shall be asked.
	pressing = "-y --yes --force -f --assume-yes --assumeyes --noconfirm --no-confirm --non-interactive --auto-approve --approve --confirm --no-prompt --quiet-yes --really"
)

const (
	irrevocable = "its words say that it does what can't be taken back"
	targetSays  = "its target says that it publishes or deploys"
	scriptSays  = "its script says that it publishes or deploys"
	endsNumber  = "it ends a process by a number or a search, which may be another one by now"
	endsNamed   = "it ends every process of that name, whoever started it"
	endsUsers   = "it ends every process that uses something"
)

// guesses has the reasons of rules that know nothing but words.
var guesses = map[string]bool{irrevocable: true, targetSays: true, scriptSays: true}

// ends has the reasons of rules about the end of processes.
var ends = map[string]bool{endsNumber: true, endsNamed: true, endsUsers: true}

// general are the rules for programs that the table does not know.
func general(c *call) []rule {
	if c.Wraps || slices.Contains(c.place.Own, c.Name) || slices.Contains(c.line.Functions, c.Name) || textPrograms[c.Name] || strings.Contains(c.Head.Text, "=") || harmless(c) {
		return nil
	}
	found := func(kind, why string) []rule { return []rule{{kind: kind, why: why}} }
	own := ownPrograms[c.Name] && !(c.Name == "java" && c.names(func(s string) bool { return s == "-jar" }))
	if kind := c.named(); kind != "" && !own && !looks(c) && !(kind == "system" && c.inTree()) {
		return found(kind, "its name says that it does what can't be taken back")
	}
	if shipsFile(c) {
		return found("publish", scriptSays)
	}
	runs, _, _ := c.runsAnother() // what it runs is judged by itself
	if kind := c.told(own); kind != "" && len(runs) == 0 && !c.asks() && !c.restoresInside() && !c.ownRepository() {
		return found(kind, irrevocable)
	}
	if own {
		return nil
	}
	if kind := c.flagged(); kind != "" && !c.ownRepository() {
		return found(kind, irrevocable)
	}
	if c.asks() {
		return nil
	}
	if c.statesLoss() && len(runs) == 0 && c.Name != "sudo" {
		return found("database", "a statement tells it to remove or to stop something")
	}
	if c.matches(mutation) && c.names(foreignHost) {
		return found("send", "it changes something on another machine")
	}
	if c.changesShared() {
		return found("infrastructure", "its words say that it changes what others use")
	}
	if c.changesAtServer() || c.feedsServer() {
		return found("send", "it changes something on another machine")
	}
	switch {
	case !diskReaders[c.Name] && c.names(isDisk) && !looks(c) && len(runs) == 0:
		return found("disk", "it works on a disk itself")
	case (mailers.MatchString(c.Name) || flag("--to --recipient --cc --bcc -to --rcpt-to")(c)) && c.matches(isAddress):
		return found("mail", "it sends something to a person")
	case c.matches(sqlVerbs), slices.ContainsFunc(c.fedTexts(), sqlVerbs.MatchString):
		return found("database", "it removes data from a database")
	case c.matches(methods) && c.names(foreignHost):
		return found("send", "it changes something on another machine")
	case flagOfSystem("-out -keyout --out --output --outfile --output-file --key-out --keyout --cert-out --key-file --cert-file --out-file")(c) && !looks(c):
		return found("system", "it writes a file that belongs to the machine")
	case c.writesAway() && !looks(c):
		return found("send", "it writes to another machine")
	}
	return nil
}

var (
	// outputs matches flags that say where something goes, inputs those that say where it comes from.
	inputs  = lazyregexp.New(`^--?(\w+-)?(i|c|in|input|inputs|from|source|src|data|dataset|config|base|cache|model|checkpoint)(-(from|uri|url|path|dir|file|location))?$`)
	outputs = lazyregexp.New(`^--?(\w+-)?(o|out|output|dest|destination|target|to|sink|export|upload|backup|save|remote-output)(-(to|uri|url|path|dir|file|location))?$`)
)

// writesAway reports whether the place that a call writes to is on another machine, or in another storage: the
// value of a flag that says so, or the last of its operands, which no value of a flag is.
func (c *call) writesAway() bool {
	to, n := "", 0
	for i, w := range c.Args {
		name, value, has := strings.Cut(w.Value, "=")
		if i > 0 && !has && !strings.HasPrefix(w.Value, "-") {
			name, value = c.Args[i-1].Value, w.Value
		}
		isFlag := strings.HasPrefix(name, "-") && len(name) > 1
		switch {
		case isFlag && outputs.MatchString(name) && (isElsewhere.MatchString(value) || strings.HasPrefix(value, "http") && foreignHost(value)):
			return true
		case strings.HasPrefix(w.Value, "-") && len(w.Value) > 1:
			continue
		case !isFlag || isElsewhere.MatchString(w.Value) && !inputs.MatchString(name):
			to = w.Value
		}
		n++
	}
	return n > 1 && isElsewhere.MatchString(to)
}

// servers are flags that name the machine that a client talks to.
var servers = strings.Fields("-s --server --url --host --address --addr --endpoint --api-url --api-server --remote --target --broker --master -H --base-url --instance")

// changesAtServer reports whether a call names another machine as its server, and its first word says that it
// changes or starts something.
func (c *call) changesAtServer() bool {
	w, ok := c.FlagValue(servers...)
	if !ok || w.Dynamic || !strings.Contains(w.Value, "://") && !isHostName.MatchString(w.Value) || loopback(w.Value) {
		return false
	}
	for _, word := range shell.Operands(c.Args, valuedBefore+" "+strings.Join(servers, " ")) {
		if bareWord.MatchString(word.Value) {
			parts := wordParts(word.Value)
			return changing[parts[0]] || changesThereWords[parts[0]] || len(parts) > 1 && lastNames[parts[len(parts)-1]]
		}
	}
	return false
}

// feedsServer reports whether a call names another machine, and a file of statements, or what it reads is not in
// the line.
func (c *call) feedsServer() bool {
	w, ok := c.FlagValue("-f", "--file", "-i", "--input", "--input-file")
	return (ok && isStatements.MatchString(w.Value) || c.Fed && c.Document == nil && !strings.Contains(c.Name, "dump")) && storesAway(c)
}

// isStatements matches files of statements.
var isStatements = lazyregexp.New(`(?i)\.(sql|ddl|dml|cql|cypher|cyp|hql|surql|aql|gql|ksql|flux|rdf(\.gz)?|nq|ttl|ndjson|jsonl|lp)$`)

var (
	isHostName        = lazyregexp.New(`^[\w-]+(\.[\w-]+)+(:\d+)?$`)
	changesThereWords = words("build groovy load register write enable disable stop trigger rename sync restart replace execute commit merge resume schedule assign grant attach detach link reload rotate")
)

// names reports whether a word of the call is as a condition says.
func (c *call) names(is func(string) bool) bool {
	for _, w := range c.Args {
		if is(w.Value) {
			return true
		}
	}
	return false
}

// foreignHost reports whether a word is a URL or a name of another machine.
func foreignHost(s string) bool {
	return strings.ContainsAny(s, ".:/") && !strings.HasPrefix(s, "-") && !strings.ContainsAny(s, "= {") && !loopback(s)
}

// files are programs whose words are files.
var files = words("rm rmdir unlink shred mv cp ln tee touch mkdir dd chmod chown chgrp truncate")

// looks reports whether a call asks for nothing but information.
func looks(c *call) bool {
	return flag("--list --info --show --status --print --get --query --dump --json")(c) || exactly("-l list ls info show status print get query dump display describe read open close luksOpen luksClose luksDump isLuks luksHeaderBackup")(c)
}

// firstNames and lastNames are verbs that count as the first and the last part of a program's name.
var (
	firstNames = words("remove clear stop restart send unregister")
	lastNames  = words("remove rm del put send push drop empty prune clear kill killall reset")
)

// isDisk reports whether a word names a device that holds data, also as dd names it.
func isDisk(word string) bool {
	return shell.IsDisk(strings.TrimPrefix(strings.TrimPrefix(word, "of="), "if="))
}

// named returns what the name of a program says, as docker-clean, eclean-kernel or kodi-send.
func (c *call) named() string {
	if cmdlet.MatchString(c.Name) {
		return "system"
	}
	name := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(c.Name, ".sh"), ".py"))
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ':' })
	if len(parts) > 0 && looking[parts[0]] {
		return ""
	}
	for i, p := range parts {
		v := verbs[p]
		if v.weight == strong || len(parts) > 1 && (i == len(parts)-1 && lastNames[p] || i == 0 && firstNames[p]) {
			return cmp.Or(v.kind, "remove")
		}
		if len(parts) > 1 && (p == "clean" || p == "eclean" || p == "cleaner") && (i == 0 || i == len(parts)-1 || c.asRoot()) {
			return "remove"
		}
	}
	if chats.MatchString(name) && len(c.Args) > 0 && !looks(c) {
		return "send"
	}
	if endings.MatchString(name) || compound.MatchString(name) {
		return "remove"
	}
	return ""
}

// inTree reports whether a call runs a program by its path below the tree: ./uninstall.sh takes away what the project
// installs, and no package of the machine.
func (c *call) inTree() bool {
	return strings.Contains(c.Head.Value, "/") && !c.Head.Dynamic && !c.outside(c.Head, true)
}

// told returns what the first words of a call say.
func (c *call) told(own bool) string {
	if c.Name == "git" { // the words behind its subcommand are names: git clone app deploy
		if sub := c.Sub(); seenElsewhere[sub] {
			return verbs[sub].kind
		}
		return ""
	}
	n := 0
	for i, w := range c.Args {
		if strings.HasPrefix(w.Value, "-") || c.sought(i) {
			continue
		}
		if !w.Dynamic && strings.ContainsAny(w.Value, "./") && n == 0 {
			continue // a file or an address before the verb: java -jar cli.jar -s URL delete-job
		}
		if n++; n > 4 || n == 4 && (own || verbs[w.Value].weight != strong) {
			break
		}
		if w.Dynamic || w.Quoted || !bareWord.MatchString(w.Value) || methods.MatchString(w.Value) {
			continue
		}
		parts := wordParts(w.Value)
		if len(parts) == 0 || when[parts[0]] || parts[len(parts)-1] == "local" {
			continue
		}
		if i == 0 && ownWords[parts[0]] && !strings.Contains(w.Value, ":") {
			return "" // what it is told here, it keeps for its user
		}
		if nouns[parts[0]] && i+1 < len(c.Args) && asking(c.Args[i+1]) != "" {
			continue // publish list
		}
		for i, p := range parts {
			v := verbs[p]
			if own {
				if seenElsewhere[p] && len(parts) == 1 {
					return v.kind
				}
				continue
			}
			whole := len(parts) == 1
			edge := i == 0 || i == len(parts)-1
			switch {
			case v.weight == strong && edge && (whole || n < 3),
				v.weight == first && (whole && n < 3 || n < 3 && i == 0 && !adjectives[p]),
				v.weight == first && n < 3 && i == len(parts)-1 && strings.Contains(w.Value, ":"),
				v.weight == first && n == 3 && whole && (v.kind == "remove" || v.kind == "publish"),
				v.weight == first && v.kind == "remove" && n < 3 && i > 0 && edge && c.asRoot() && removeFlags[p],
				n < 3 && i == len(parts)-1 && strings.Contains(w.Value, ":") && (v.weight == pressed || colonChanges[p]),
				v.weight == pressed && whole && n < 3 && c.isPressed():
				if v.kind == "" {
					return "infrastructure"
				}
				return v.kind
			}
		}
		if lower := strings.ToLower(w.Value); !own && compound.MatchString(lower) {
			if strings.HasPrefix(lower, "send") || strings.HasPrefix(lower, "purchase") {
				return "send"
			}
			return "remove"
		}
	}
	return ""
}

// colonChanges are what ends a word with colons that changes something: config:set, db:execute.
var colonChanges = words("set unset execute rename import enable update upgrade resetpassword reset-password on off add")

// nouns are verbs that name what was done as well.
var nouns = words("publish deploy upload release")

// adjectives are verbs that begin names of things as well.
var adjectives = words("format release drop push post mail email share trash empty reset submit transfer notify pub cancel send")

// flagged returns what a flag says, or the value of one that names an action.
func (c *call) flagged() string {
	_, _, runs := c.runsAnother()
	for i, w := range c.Args {
		if w.Value == "--" || runs && !strings.HasPrefix(w.Value, "-") {
			return "" // what follows are words, or flags of the program that it runs
		}
		if len(w.Value) < 4 || w.Value[0] != '-' {
			continue
		}
		name, value, has := strings.Cut(w.Value, "=")
		parts := wordParts(strings.TrimLeft(name, "-"))
		if len(parts) == 0 || parts[0] == "no" || parts[0] == "skip" || parts[0] == "ignore" || parts[0] == "keep" {
			continue
		}
		v := verbs[parts[0]]
		last := verbs[parts[len(parts)-1]]
		long := strings.HasPrefix(w.Value, "--")
		switch {
		case v.weight == strong:
			return v.kind
		case last.weight == strong && long && !when[parts[0]]:
			return last.kind
		case long && (parts[0] == "broadcast" || parts[0] == "live" && !exactly("pull list download open preview check")(c)) && len(parts) == 1:
			return "send"
		case long && parts[0] == "webhook" || foreignWebhook.MatchString(value):
			return "send"
		case inEarnest.MatchString(name):
			return "infrastructure"
		case long && sendFlags[parts[0]] && len(parts) < 3:
			return "send"
		case long && removeFlags[parts[0]] && (len(parts) == 1 || whole[parts[1]]), long && parts[0] == "vacuum":
			return "remove"
		case long && strings.HasPrefix(parts[0], "clean") && c.asRoot():
			return "remove"
		}
		if actionFlags[name] {
			if !has && i+1 < len(c.Args) {
				value = c.Args[i+1].Value
			}
			for _, p := range wordParts(value) {
				if v := verbs[p]; v.weight == strong || v.weight == first {
					return v.kind
				}
			}
		}
	}
	return ""
}

// inEarnest matches flags without which a program only says what it would do.
var inEarnest = lazyregexp.New(`^--(doit|do-it|commit|no-?dry-?run|real-run|for-real|yes-i-[\w-]+|i-know-what-i-am-doing)$`)

// foreignWebhook matches addresses that make a message of what is sent to them.
var foreignWebhook = lazyregexp.New(`^https?://[^/]+/.*\bwebhooks?\b|^https?://hooks\.`)

var (
	// when begins flags that say when something happens.
	when = words("on after before if allow")
	// sendFlags begin flags that send something, removeFlags those that remove something.
	sendFlags   = words("put send share push submit email flood deauth")
	removeFlags = words("remove rm drop reset restore rollback kill unlink trash factory expire forget prune")
	// whole are what such a flag removes much of.
	whole = words("all older old expired stale unused user device reset server")
)

// asRoot reports whether the call runs as another user.
func (c *call) asRoot() bool {
	for _, v := range c.Via {
		if v == "sudo" || v == "doas" || v == "pkexec" || v == "su" || v == "run0" {
			return true
		}
	}
	return false
}

func (c *call) isPressed() bool {
	return c.Flag(strings.Fields(pressing)...) || c.asRoot() || strings.HasSuffix(c.Name, "adm") || strings.HasSuffix(c.Name, "admin")
}

// wordParts splits apps:destroy, delete-topic and deleteTopic into their words, in lower case.
func wordParts(s string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		switch {
		case r == '-' || r == '_' || r == ':' || r == '.':
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(b.String())
}

// abbreviated reports whether a program of iproute2 is told to change something: it takes any beginning
// of its verbs.
func abbreviated(c *call) bool {
	ws := shell.Operands(c.Args, "-f -family -n -netns -rc -l")
	if len(ws) < 2 {
		return false
	}
	verb := ws[1].Value
	for _, full := range []string{"flush", "delete", "add", "replace", "change", "append"} {
		if verb != "" && strings.HasPrefix(full, verb) {
			return true
		}
	}
	return strings.HasPrefix("set", verb) && len(verb) > 1
}
