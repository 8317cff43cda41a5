package danger

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Conditions under which a program that can do harm does none: it is asked for something, or what it
// writes stays here.

// looking are verbs that only ask, askFirst those that may begin a longer word (list-tags), and askLast what
// may end one (ws-info).
var (
	looking = words(`get list ls show status stat info dump print describe query view inspect search version help can who whoami diff plan
		explain find grep check verify validate lint log logs history health df du ps top tree count lookup tail dmesg gen generate backups me`)
	askFirst = words("get list show dump print describe query view inspect search can who whoami explain check verify validate")
	// ifSafe matches words that ask whether something could be done: ok-to-stop, safe-to-destroy.
	ifSafe  = lazyregexp.New(`^(ok|safe)-to-`)
	askLast = words("info status list")
	// sendsCheck matches words that ask somebody by a message.
	sendsCheck = lazyregexp.New(`^verify-(email|domain)`)
	// actsOn are further verbs that change what a word before them names: backups restore.
	actsOn = words("put restore reset clear prune rollback cancel kill send import flush push rotate")
	// about are those after which another verb is what they ask about.
	about = words("can describe explain find get grep help inspect lookup search show stat tree validate verify who")
)

// ownWords are first words after which a program changes settings of its user.
var ownWords = words("alias config settings")

// asks reports whether a call asks for something: by its first word, or by its second after one that names
// a kind of things.
func (c *call) asks() bool {
	valued := "--search --filter --query --grep --pattern -n --namespace -p --profile --region --project --context -C --server --host --url --addr --address --endpoint --endpoints --kubeconfig --cluster"
	if mailers.MatchString(c.Name) {
		valued += " -s"
	}
	ws := shell.Operands(c.Args, valued)
	if c.Wraps {
		return false
	}
	for i, w := range ws[:min(2, len(ws))] {
		verb := asking(w)
		if verb == "" || verb == "version" && i > 0 { // a version may also be made
			if parts := wordParts(w.Value); w.Dynamic || len(parts) == 0 || verbs[parts[0]].weight > 0 || changing[parts[0]] {
				return false
			}
			continue
		}
		if verb == "query" && (c.matches(sqlVerbs) || c.Name == "bq" && givesStatement(c)) {
			return false // bq query 'DROP TABLE …'
		}
		// apps list, and not logs delete or logs put-retention-policy.
		for j, w := range ws[i+1 : min(i+3, len(ws))] {
			for k, p := range wordParts(w.Value) {
				if !about[verb] && (verbs[p].weight == strong || j == 0 && k == 0 && (onlyChanges[p] || actsOn[p])) {
					return false
				}
			}
		}
		return true
	}
	return false
}

// staysHere reports whether a call names addresses, and all of them are of this machine.
func (c *call) staysHere() bool {
	w, found := c.FlagValue("-h", "-H", "--host", "--hostname", "--bootstrap-server", "--broker-list")
	found = found && (strings.HasPrefix(w.Value, "localhost") || strings.HasPrefix(w.Value, "127.")) && local(w.Value)
	for _, w := range c.Args {
		at := strings.Index(w.Value, "://")
		if at < 0 || strings.HasPrefix(w.Value[at:], ":///") || strings.HasSuffix(w.Value[:at], "persistent") {
			continue // no address, or a file's, or a topic's
		}
		if from := strings.LastIndexAny(w.Value[:at], "=, "); !loopback(w.Value[from+1:]) {
			return false
		}
		found = true
	}
	return found || c.endpointHere()
}

// endpointVariable matches what follows the name of a client in a variable that names its server, be it that of one
// service alone.
var endpointVariable = lazyregexp.New(`^_(?:HTTP_)?(?:ADDR(?:ESS)?|HOST|URL|URI|SERVER|ENDPOINTS?|ENDPOINT_URL(?:_(\w+))?|ENDPOINT_OVERRIDES_(\w+))$`)

// prefixes are what variables of clients begin with that are not called as their programs are.
var prefixes = map[string]string{"gcloud": "CLOUDSDK_API"}

// endpointHere reports whether the line sets a variable of the program of a call that names its server, and that is
// this machine: VAULT_ADDR, AWS_ENDPOINT_URL_S3. No flag may name another server.
func (c *call) endpointHere() bool {
	if w, ok := c.FlagValue("-s", "--server", "--url", "--host", "--address", "--addr", "--endpoint", "--endpoints", "--endpoint-url", "--api-url", "-address", "-addr", "-http-addr"); c.Abroad || ok && !loopback(w.Value) {
		return false
	}
	prefix := cmp.Or(prefixes[c.Name], strings.ToUpper(strings.ReplaceAll(c.Name, "-", "_")))
	found := false
	for i, v := range slices.Concat(c.Assigns, c.line.Assigned) {
		rest, ok := strings.CutPrefix(v.Name, prefix)
		m := endpointVariable.FindStringSubmatch(rest)
		if !ok || prefix == "" || m == nil {
			continue
		}
		if service, sub := strings.ToLower(m[1]+m[2]), c.Sub(); service != "" && (sub == "" || !strings.HasPrefix(strings.ReplaceAll(service, "_", "-"), sub)) {
			continue
		}
		if i >= len(c.Assigns) && c.assigned(v.Name, c.Head.Node) == nil {
			return false // not always, or not before the call
		}
		if v.Unknown || v.Value.Dynamic || v.Value.Value == "" || !loopback(v.Value.Value) {
			return false
		}
		found = true
	}
	return found
}

// strongly returns what one of the first words of a call says, if it can be said of nothing else.
func (c *call) strongly() string {
	n := 0
	for i, w := range c.Args {
		if strings.HasPrefix(w.Value, "-") || w.Dynamic || w.Quoted || !bareWord.MatchString(w.Value) || c.sought(i) {
			continue
		}
		if n++; n > 3 {
			break
		}
		if v := verbs[strings.ToLower(w.Value)]; v.weight == strong {
			return v.kind
		}
	}
	return ""
}

// seeking matches flags whose value is looked for, or is text for people.
var seeking = lazyregexp.New(`^--(search|filter|query|grep|pattern|match|where|message|title|description|comment|label|name)$`)

// sought reports whether an argument is the value of such a flag.
func (c *call) sought(i int) bool { return i > 0 && seeking.MatchString(c.Args[i-1].Value) }

// packageManagers are programs whose verb clean concerns what they have fetched.
var packageManagers = words("apt apt-get dnf yum zypper microdnf tdnf pip conda")

// dockerAway reports whether docker is told to do more than show something on a host that is not this machine.
func dockerAway(c *call) bool {
	own := shell.Call{Name: c.Name}
	for i := 0; i+1 < len(c.Args) && strings.HasPrefix(c.Args[i].Value, "-"); i++ {
		own.Args = append(own.Args, c.Args[i], c.Args[i+1])
		if !strings.Contains(c.Args[i].Value, "=") {
			i++
		}
	}
	w, ok := own.FlagValue("-H", "--host", "--context", "-c", "--url", "--connection")
	if !ok {
		w, ok = c.dockerHost()
	}
	remote := c.Name == "podman" && len(c.Args) > 0 && (c.Args[0].Value == "--remote" || c.Args[0].Value == "-r")
	if !ok && !remote || w.Value == "default" || w.Value == "desktop-linux" || strings.HasPrefix(w.Value, "unix://") || ok && loopback(w.Value) {
		return false
	}
	ws := shell.Operands(c.Args, "-H --host --context -c --url --connection --config -l -f --file -p --project-name --profile")
	for len(ws) > 0 && dockerGroups[ws[0].Value] {
		ws = ws[1:]
	}
	return len(ws) > 0 && !dockerShows[ws[0].Value]
}

// dockerHost returns the host that a variable or an earlier call of the line gives to docker.
func (c *call) dockerHost() (shell.Word, bool) {
	for _, v := range slices.Concat(c.Assigns, c.line.Assigned) {
		if (v.Name == "DOCKER_HOST" || v.Name == "DOCKER_CONTEXT" || v.Name == "CONTAINER_HOST") && !v.Unknown {
			return v.Value, true
		}
	}
	for i := range c.line.Calls[:c.at] {
		if o := &c.line.Calls[i]; o.Name == "docker" && o.Sub() == "context" {
			if ws := o.After(); len(ws) == 2 && ws[0].Value == "use" {
				return ws[1], true
			}
		}
	}
	return shell.Word{}, false
}

var (
	dockerGroups = words("compose container image volume network system service node stack config secret swarm")
	dockerShows  = words("ps ls list images logs inspect info version stats top events port diff history search df config context help")
)

// changing are first words after which others are names.
var changing = words("apply create set run exec update edit patch put add new install upgrade start stop call invoke cp mv copy move import")

// asking returns the verb of a word that only asks, "" if it does not.
func asking(w shell.Word) string {
	if w.Quoted || w.Dynamic || !bareWord.MatchString(w.Value) {
		return ""
	}
	parts := wordParts(w.Value)
	switch {
	case len(parts) == 0:
	case ifSafe.MatchString(w.Value):
		return "can"
	case parts[len(parts)-1] == "replace", sendsCheck.MatchString(w.Value):
	case len(parts) == 1 && (looking[parts[0]] || strings.HasPrefix(parts[0], "get")), askFirst[parts[0]]:
		return parts[0]
	case askLast[parts[len(parts)-1]] && verbs[parts[0]].weight == 0:
		return parts[len(parts)-1]
	}
	return ""
}

// restoresInside reports whether what a call restores goes below the tree.
func (c *call) restoresInside() bool {
	if ws := shell.Operands(c.After(), ""); c.Name == "kopia" && c.Sub() == "restore" && len(ws) > 1 && !c.outside(ws[len(ws)-1], true) {
		return true
	}
	w, ok := c.FlagValue("--target", "--to", "--output", "--dest", "--destination", "--directory", "-C")
	return ok && exactly("restore extract")(c) && !c.outside(w, true)
}

// inOwnContainer reports whether a call runs in a container that is made for it, and that shows nothing of
// this machine but the tree.
func (c *call) inOwnContainer() bool {
	if len(c.Via) == 0 {
		return false
	}
	for _, v := range c.Via {
		if v != "docker run" && v != "podman run" && v != "sudo" && !scriptNames[v] {
			return false
		}
	}
	for i := c.at - 1; i >= 0; i-- {
		o := &c.line.Calls[i]
		if o.Name == "docker" || o.Name == "podman" {
			return !o.Flag("--mount", "--volumes-from", "--privileged", "--device", "--pid", "--net", "--network") && c.mountsTree(o)
		}
	}
	return false
}

// mountsTree reports whether each volume of a call of docker is a directory of the tree.
func (c *call) mountsTree(docker *shell.Call) bool {
	for i, w := range docker.Args {
		volume := ""
		switch {
		case w.Value == "-v" || w.Value == "--volume":
			if i+1 < len(docker.Args) {
				volume = docker.Args[i+1].Value
			}
		case strings.HasPrefix(w.Value, "--volume="):
			volume = strings.TrimPrefix(w.Value, "--volume=")
		default:
			continue
		}
		from, _, _ := strings.Cut(volume, ":")
		for _, here := range [...]string{"$PWD", "${PWD}", "$(pwd)", "`pwd`"} {
			if rest, ok := strings.CutPrefix(from, here); ok {
				from = "." + rest
			}
		}
		if !strings.ContainsAny(from, "./~") || strings.ContainsAny(from, "$`") {
			return false
		}
		name, ok := shell.Resolve(shell.Word{Value: from}, c.place.Cwd, c.place.Home)
		if !ok || !c.place.within(name) {
			return false
		}
	}
	return true
}

var scriptNames = words("sh bash dash ash")

// onDevice reports whether an operand is a device or outside the tree, or is not known. An image below the
// tree is a file like others.
func onDevice(c *call) bool {
	for _, w := range c.operands("-t -L -T -U -b -E -O -m -N --rootdir -d --label --uuid --type") {
		if _, known := c.expanded(w); w.Dynamic && !known || (known || strings.Contains(w.Value, "/")) && c.outside(w, true) {
			return true
		}
	}
	return false
}

// toLoopback reports whether an image goes to a registry of this machine.
func toLoopback(c *call) bool {
	ws := shell.Operands(c.After(), "--creds --authfile --cert-dir --sign-by --format -f --digestfile")
	if len(ws) == 0 {
		return false
	}
	at := len(ws) - 1
	if c.Name == "oras" && c.Sub() != "cp" && c.Sub() != "copy" {
		ws, at = shell.Operands(ws, "--config --artifact-type --annotation -a --annotation-file --username -u --password -p --format"), 0 // the files follow
		if len(ws) == 0 {
			return false
		}
	}
	registry, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(ws[at].Value, "docker://"), "oci://"), "/")
	return ok && registry != "" && local(registry)
}

// toLocalImage reports whether an image goes into a file or a directory.
func toLocalImage(c *call) bool {
	if len(c.Args) == 0 {
		return false
	}
	if w, ok := c.FlagValue("--dest", "-d"); ok && c.Name == "skopeo" && w.Value == "dir" {
		return true
	}
	last := c.Args[len(c.Args)-1].Value
	for _, transport := range []string{"dir:", "oci-archive:", "docker-archive:", "containers-storage:", "docker-daemon:"} {
		if strings.HasPrefix(last, transport) {
			return true
		}
	}
	return strings.HasPrefix(last, "oci:") && !strings.HasPrefix(last, "oci://")
}

// toFolder reports whether packages are put into a folder rather than a registry.
func toFolder(c *call) bool {
	w, ok := c.FlagValue("--source", "-s", "-Source")
	return ok && !w.Dynamic && (strings.HasPrefix(w.Value, ".") || strings.HasPrefix(w.Value, "/") || strings.HasPrefix(w.Value, "~/"))
}

// deploysToFolder reports whether maven puts what it builds into a directory below the tree.
func deploysToFolder(c *call) bool {
	for _, w := range c.Args {
		if _, address, ok := strings.Cut(w.Value, "eploymentRepository="); ok && strings.HasPrefix(w.Value, "-Dalt") {
			_, file, is := strings.Cut(address, "file:")
			if strings.HasPrefix(file, "///") {
				file = file[2:]
			}
			return is && !strings.HasPrefix(file, "//") && !c.outside(shell.Word{Value: file, Dynamic: w.Dynamic}, true) && !c.names(func(s string) bool { return strings.Contains(s, "release:") || strings.Contains(s, "site-deploy") })
		}
	}
	return false
}

// ownKeyring reports whether the keys of gpg are in a directory below the tree.
func ownKeyring(c *call) bool {
	if w, ok := c.FlagValue("--homedir"); ok {
		return !c.outside(w, true)
	}
	for _, v := range slices.Concat(c.Assigns, c.line.Assigned) {
		if v.Name == "GNUPGHOME" {
			return !v.Unknown && !v.Maybe && !c.outside(v.Value, true)
		}
	}
	return false
}

// toLoopbackServer reports whether mail is handed to a server on this machine that is named.
func toLoopbackServer(c *call) bool {
	w, ok := c.FlagValue("--server", "-s")
	return ok && c.Name == "swaks" && loopback(w.Value)
}

// fetchesOnly reports whether a client for files is told to fetch and nothing else.
func fetchesOnly(c *call) bool {
	w, ok := c.FlagValue("-e", "-c")
	if !ok || c.Name != "lftp" {
		return false
	}
	for _, command := range strings.FieldsFunc(w.Value, func(r rune) bool { return r == ';' || r == '\n' || r == '&' }) {
		f := strings.Fields(command)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "mirror":
			if strings.Contains(command, "--dry-run") {
				continue
			}
			if strings.Contains(command, " -R") || strings.Contains(command, "--reverse") || strings.Contains(command, "--delete") {
				return false
			}
		case "get", "mget", "pget", "ls", "cls", "nlist", "cat", "zcat", "pwd", "find", "du", "quit", "exit", "bye", "set", "open", "cd", "lcd":
		default:
			return false
		}
	}
	return true
}

// pidFileInside reports whether the process is named by a file below the tree, which a step of the plan has
// written.
func pidFileInside(c *call) bool {
	w, ok := c.FlagValue("-F", "--pidfile")
	return ok && c.Name == "pkill" && !c.outside(w, true)
}

// ownSettings reports whether a call changes what the program keeps for its user.
func ownSettings(c *call) bool {
	sub := c.Sub()
	return ownWords[sub] || sub == "auth" && exactly("list login")(c)
}

// fetchesObjects reports whether the last operand of a copy is a path of this machine.
func fetchesObjects(c *call) bool {
	ws := c.operands("--project --account")
	if len(ws) < 3 || !exactly("cp rsync")(c) {
		return false
	}
	last := ws[len(ws)-1].Value
	return !strings.Contains(last, "://") && !c.outside(ws[len(ws)-1], true)
}

// asksModule reports whether a module of ansible only asks for something.
func asksModule(c *call) bool {
	w, ok := c.FlagValue("-m", "--module-name")
	if a, said := c.FlagValue("-a", "--args"); c.Name == "ansible" && said && (!ok || words("command shell raw")[strings.TrimPrefix(path.Ext("."+w.Value), ".")]) {
		return c.textReads(a.Value)
	}
	return ok && c.Name == "ansible" && words("ping setup debug gather_facts stat service_facts package_facts fetch slurp find getent")[strings.TrimPrefix(path.Ext("."+w.Value), ".")]
}

var publishes = lazyregexp.New(`^:?([\w-]+:)*(publish\w*|uploadArchives|bintrayUpload|closeAndRelease\w*)$`)

// gradlePublishes reports whether a task publishes to others than this machine.
func gradlePublishes(c *call) bool {
	return c.names(func(s string) bool { return publishes.MatchString(s) && !strings.HasSuffix(s, "ToMavenLocal") })
}

// writesToShare reports whether smbclient is told to do more than fetch.
func writesToShare(c *call) bool {
	w, ok := c.FlagValue("-c", "--command")
	if !ok {
		return c.Piped || c.Fed
	}
	for command := range strings.SplitSeq(w.Value, ";") {
		if f := strings.Fields(command); len(f) > 0 && words("put mput del mdel rm rmdir mkdir md rd rename deltree wdel reput setmode")[f[0]] {
			return true
		}
	}
	return false
}

// removers matches what a program in a word removes by name.
var removers = lazyregexp.New(`(?:rmtree|rmSync|rmdirSync|unlinkSync|rm_rf|rm_r|rmtree|remove_tree|os\.remove|os\.unlink|os\.rmdir|removedirs|unlink|FileUtils\.rm\w*|File\.delete)(?:\s+glob)?\s*\(?\s*(?:(?:os\.)?path\.join\(|(?:pathlib\.)?Path\()?\s*['"]([^'"]+)['"]`)

// removesByCode reports whether a program in a word removes something outside the tree.
func removesByCode(c *call) bool {
	for _, text := range c.programs() {
		for _, m := range removers.FindAllStringSubmatch(text, -1) {
			if c.outside(shell.Word{Value: m[1], Glob: strings.ContainsAny(m[1], "*?[")}, true) {
				return true
			}
		}
	}
	return false
}

// asksHosts reports whether what runs on several machines only shows something.
func asksHosts(c *call) bool {
	ws := shell.Operands(c.Args, "-w -g -x -l -t -f -u -n -G -H -h -p")
	switch c.Name {
	case "salt", "salt-call", "salt-run", "salt-ssh":
		if i := slices.IndexFunc(c.Args, func(w shell.Word) bool { return w.Value == "cmd.run" || w.Value == "cmd.shell" }); i >= 0 && i+2 == len(c.Args) {
			return c.textReads(c.Args[i+1].Value)
		}
		return c.names(asksOfMinions)
	case "cap":
		return matching(`:check$`)(c)
	case "knife":
		ws := shell.Operands(c.After(), "-x -i -C -a -p -P --ssh-user --identity-file --attribute")
		return c.Sub() == "ssh" && len(ws) == 2 && c.textReads(ws[1].Value)
	case "bolt":
		if ws := shell.Operands(c.Args, "-t --targets -u --user -q --query -i --inventoryfile"); len(ws) > 2 && ws[0].Value == "command" {
			return c.textReads(joined(ws[2:]))
		}
		return c.Sub() == "inventory" || c.Sub() == "lookup" || len(c.toldWords()) > 1 && quiet(c.toldWords()[1])
	case "puppet":
		return c.Sub() == "lookup" || c.Sub() == "resource" && !matching(`=`)(c)
	case "pdsh", "clush", "dsh", "pssh", "parallel-ssh":
	default:
		return false
	}
	return len(ws) > 0 && c.textReads(joined(ws))
}

// asksOfMinions reports whether a word is a function of salt that only asks, or says that nothing shall be done.
func asksOfMinions(s string) bool {
	module, function, ok := strings.Cut(s, ".")
	switch {
	case s == "test=True" || s == "test=true":
		return true
	case !ok || !bareWord.MatchString(function):
		return false
	}
	parts := wordParts(function)
	return module == "test" || module == "grains" && parts[0] != "set" && verbs[parts[0]].weight == 0 && parts[0] != "append" || askFirst[parts[0]] || looking[parts[0]] ||
		words("items ip_addrs ipaddrs interfaces servers uptime which highstate doc up down ls ping lookup cpuinfo meminfo loadavg netstat hwaddr")[function] && module != "state"
}

// staysAtHome reports whether the addresses that a call names are all of this machine; callsAway whether
// the host that a flag names is another one; connectsAway the same of -connect.
func staysAtHome(c *call) bool { return c.staysHere() }

func callsAway(c *call) bool {
	w, ok := c.FlagValue("--host")
	return ok && !local(w.Value) || c.names(func(s string) bool { return strings.Contains(s, ":") && foreignHost(s) })
}

func connectsAway(c *call) bool {
	w, ok := c.FlagValue("-connect")
	return ok && !loopback(w.Value)
}

// operandOutside reports whether an operand is outside the tree.
func operandOutside(c *call) bool {
	for _, w := range c.operands("-m --modify -x --remove -M -X --set --restore") {
		if c.outside(w, true) {
			return true
		}
	}
	return false
}
