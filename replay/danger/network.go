package danger

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Conditions about where something goes.

func someOperand(c *call) bool  { return len(c.operands("-t -o -O -L")) > 0 }
func someArgument(c *call) bool { return len(c.Args) > 0 && !c.Flag("--version", "--help", "-V") }

// someInput reports whether it has an operand or something to read.
func someInput(c *call) bool { return someOperand(c) || c.Piped || c.Fed }

// pushesAway reports whether git push goes to another machine, as far as its text shows: only a
// path is certainly of this one.
func pushesAway(c *call) bool {
	v := c.pushedTo()
	if strings.Contains(v, "://") && loopback(v) {
		return false
	}
	return !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "./") && !strings.HasPrefix(v, "../") && !strings.HasPrefix(v, "file://")
}

// pushedTo returns where git push goes: a path, an address, or the name of a remote of which that is not known.
func (c *call) pushedTo() string {
	v := "origin" // unless the branch has another one, which only its repository knows
	if words := shell.Operands(c.After(), "-o --push-option --repo --receive-pack --exec"); len(words) > 0 {
		v = words[0].Value
	}
	return cmp.Or(c.place.Remotes[v], v)
}

// pushesFrom returns the repository from which git push pushes to a remote that it only names, "" if it does not.
func (c *call) pushesFrom() string {
	v := c.pushedTo()
	if c.Name != "git" || c.Sub() != "push" || c.Abroad || c.Deferred || v == "" || strings.ContainsAny(v, "/:.$`") || c.Flag("--repo") {
		return ""
	}
	return c.gitDir()
}

// discardsIn returns the working tree of which git discards what is not committed or stashed, "" if it does not.
func (c *call) discardsIn() string {
	if c.Name != "git" || c.Abroad || c.Deferred {
		return ""
	}
	switch c.Sub() {
	case "reset", "checkout", "restore", "switch", "stash", "clean":
		return c.gitDir()
	case "branch":
		if len(c.removesBranches()) > 0 {
			return c.gitDir()
		}
	case "worktree":
		if words := shell.Operands(c.After(), ""); len(words) > 1 {
			name, _ := shell.Resolve(words[len(words)-1], c.gitDir(), c.place.Home)
			return name
		}
	}
	return ""
}

// discardsFiles returns the files whose changes git discards, or that git clean may remove, nil if they are not known
// or are all.
func (c *call) discardsFiles() (names []string) {
	if c.discardsIn() == "" || c.Sub() != "checkout" && c.Sub() != "restore" && c.Sub() != "clean" {
		return nil
	}
	words := c.After()
	if c.Sub() == "clean" {
		if words = shell.Operands(words, "-e --exclude"); len(words) == 0 {
			return []string{"."}
		}
	} else if at := slices.IndexFunc(words, func(w shell.Word) bool { return w.Value == "--" }); at >= 0 {
		words = words[at+1:]
	} else if c.Sub() == "checkout" {
		return nil // it may name a branch
	} else {
		words = shell.Operands(words, "-s --source --pathspec-from-file --conflict")
	}
	for _, w := range words {
		if w.Dynamic || w.Value == "" {
			return nil
		}
		names = append(names, w.Value)
	}
	return names
}

// removesBranches returns the branches that git branch -D removes, nil if they are not known.
func (c *call) removesBranches() (names []string) {
	here := shell.Call{Args: c.After()}
	if c.Name != "git" || c.Sub() != "branch" || c.Abroad || c.Deferred || here.Flag("-r", "--remotes", "-M", "-C", "--all") || !here.Flag("-D", "-d", "--delete") {
		return nil
	}
	for _, w := range shell.Operands(c.After(), "") {
		if w.Dynamic || w.Glob {
			return nil
		}
		names = append(names, w.Value)
	}
	return names
}

// pushesInside reports whether git push goes to a repository in the tree, so that what it does to the history there
// is the narrative's own.
func pushesInside(c *call) bool {
	v := strings.TrimPrefix(c.pushedTo(), "file://")
	if !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "./") && !strings.HasPrefix(v, "../") {
		return false
	}
	name, ok := shell.Resolve(shell.Word{Value: v}, c.gitDir(), c.place.Home)
	return ok && c.place.within(name)
}

// ownHistory reports whether git works on what the narrative itself made: in a repository that it began or cloned, and
// in which no other one lies that it knows of, or on branches that it made. What was pushed is of others.
func (c *call) ownHistory() bool {
	if c.Name != "git" || c.Abroad || c.Sub() == "push" {
		return false
	}
	if c.Sub() == "branch" {
		words := shell.Operands(c.After(), "")
		if len(words) > 0 && !slices.ContainsFunc(words, func(w shell.Word) bool { return w.Dynamic || !slices.Contains(c.place.Branches, w.Value) }) {
			return !c.Flag("-r", "--remotes", "-M", "-f", "--force")
		}
	}
	dir, nearest := c.gitDir(), ""
	for _, tree := range slices.Concat(c.place.Tree, c.place.Begun) {
		if below(dir, tree) && len(tree) > len(nearest) {
			nearest = tree
		}
	}
	own := c.place.Begun
	if c.Sub() == "clean" {
		own = c.place.Cloned // where it was begun there may have been files
	}
	return nearest != "" && slices.Contains(own, nearest)
}

// gitDir returns the directory that git runs in: that of -C, or else the call's own; "" if it is not known.
func (c *call) gitDir() string {
	dir := c.Dir
	for i, a := range c.Args {
		if a.Value != "-C" || i+1 == len(c.Args) {
			continue
		}
		var ok bool
		if dir, ok = shell.Resolve(c.Args[i+1], dir, c.place.Home); !ok {
			return ""
		}
	}
	return dir
}

func wgetAway(c *call) bool {
	if m, ok := c.FlagValue("--method"); ok && words("GET HEAD")[strings.ToUpper(m.Value)] {
		return false
	}
	return c.foreign("--post-data --post-file --method --body-data --body-file --header -O -o -P --user --password -U")
}

// uploads reports whether curl sends a body, an upload or a method that changes something to another
// machine.
func uploads(c *call) bool {
	c = c.withoutMethod()
	body := c.Flag("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "-F", "--form", "--form-string", "-T", "--upload-file", "--json", "--mail-rcpt", "-Q", "--quote")
	if m, ok := c.FlagValue("-X", "--request"); ok {
		asks := words("GET HEAD OPTIONS TRACE")[strings.ToUpper(m.Value)]
		body = !asks || body && c.Flag("-T", "--upload-file", "-F", "--form", "--mail-rcpt", "-Q", "--quote") // a question may have a body
	}
	if body && c.Flag("-G", "--get") && !c.Flag("-T", "-F", "-X") || c.Flag("--unix-socket", "--abstract-unix-socket") {
		body = false
	}
	return body && c.foreign("-d --data --data-raw --data-binary --data-urlencode --data-ascii -F --form --form-string -T --upload-file --json -X --request -H --header -o --output -u --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -w --write-out -m --max-time --connect-timeout -x --proxy --retry -E --cert --key --cacert --mail-rcpt --mail-from -Q --quote -K --config -r --range -C")
}

// speaksToSocket reports whether curl changes something at a service of the machine by its socket. Containers that docker
// has here are the developer's own.
func speaksToSocket(c *call) bool {
	w, ok := c.FlagValue("--unix-socket")
	m, said := c.withoutMethod().FlagValue("-X", "--request")
	return ok && below(w.Value, "/run", "/var/run") && !strings.Contains(w.Value, "docker") && (c.Flag("-d", "--data", "--json", "-T") || said && !words("GET HEAD")[m.Value])
}

// withoutMethod returns a call of curl with -X apart from its value, in whose letters no flags are looked for: -XGET, -sXPOST.
func (c *call) withoutMethod() *call {
	o := *c.Call
	o.Args = nil
	for _, w := range c.Args {
		if m := joinedMethod.FindStringSubmatch(w.Value); m != nil {
			if m[1] != "-" {
				o.Args = append(o.Args, shell.Word{Text: m[1], Value: m[1]})
			}
			o.Args = append(o.Args, shell.Word{Text: "-X", Value: "-X"}, shell.Word{Text: m[2], Value: m[2]})
			continue
		}
		o.Args = append(o.Args, w)
	}
	d := *c
	d.Call = &o
	return &d
}

var joinedMethod = lazyregexp.New(`^(-[a-zA-Z]*)X([A-Z]+)$`)

// sendsAway reports whether nc and its like write to another machine: not when they listen or only
// look whether a port is open.
func sendsAway(c *call) bool {
	if c.Flag("-l", "-z", "--listen", "-h") || matching(`^(?i)(tcp|udp|unix|openssl)[46]?-listen`)(c) {
		return false
	}
	words := c.operands("-w -q -i -p -s -x -X -e -c -W -t -b -O")
	if len(words) == 0 {
		return false
	}
	if !c.isFed() && c.Name != "websocat" && c.Name != "socat" || c.fedQuestions() {
		return false
	}
	for _, w := range words {
		v := w.Value
		if _, rest, ok := strings.Cut(v, ":"); ok && c.Name == "socat" {
			if !strings.HasPrefix(strings.ToUpper(v), "TCP") && !strings.HasPrefix(strings.ToUpper(v), "UDP") && !strings.HasPrefix(strings.ToUpper(v), "OPENSSL") {
				continue
			}
			v = rest
		} else if c.Name == "socat" {
			continue
		}
		if !strings.Contains(v, "/") && strings.Trim(v, "0123456789") == "" {
			continue // a port
		}
		if !loopback(v) {
			return true
		}
	}
	return false
}

// rsyncOutside reports whether rsync's destination is outside the tree, or what it takes away.
func rsyncOutside(c *call) bool {
	words := c.operands("-e --rsh --exclude --include --filter --files-from")
	if len(words) < 2 {
		return false
	}
	moves := c.Flag("--remove-source-files") && slices.ContainsFunc(words[:len(words)-1], func(w shell.Word) bool { return isRemote(w.Value) || c.outside(w, false) })
	return moves || c.outside(words[len(words)-1], true)
}

// awsReads begin the operations of aws that only ask for something, or work out something.
var awsReads = []string{
	"describe", "get", "batch-get", "list", "head", "ls", "wait", "lookup", "scan", "query", "validate", "simulate", "presign", "tail", "search", "filter", "test",
	"estimate", "detect", "decode", "view", "preview", "select", "assume", "generate", "decrypt", "encrypt", "verify", "sign", "check", "discover", "download",
	"start-query", "start-live-tail", "login", "package", "website-help",
}

// awsChanges reports whether an operation of aws does more than ask. Whatever is not known to ask changes
// something, since services get new operations every week.
func awsChanges(c *call) bool {
	words := shell.Operands(c.Args, "--profile --region --output --endpoint-url --query")
	if len(words) < 2 {
		return false
	}
	service, verb := words[0].Value, strings.TrimPrefix(words[1].Value, "admin-")
	switch {
	case c.loopbackEndpoint() || exactly("DryRun")(c):
		return false
	case service == "configure" || service == "sso" || service == "history" || verb == "help" || words[0].Dynamic || words[1].Dynamic:
		return false
	case service == "s3" && (verb == "cp" || verb == "sync"):
		to := words[min(3, len(words)-1)]
		return strings.HasPrefix(to.Value, "s3://") || c.Flag("--delete") && c.outside(to, true)
	case service == "ecs" && verb == "execute-command":
		w, _ := c.FlagValue("--command")
		return !c.textReads(w.Value)
	case verb == "start-query-execution" || verb == "execute-statement":
		w, ok := c.FlagValue("--query-string", "--sql", "--statement")
		return verb == "execute-statement" && (!ok || w.Dynamic) || ok && !w.Dynamic && changesBy("", w.Value)
	case service == "eks" && verb == "update-kubeconfig", !bareWord.MatchString(verb):
		return false
	}
	return sendsCheck.MatchString(verb) || !slices.ContainsFunc(awsReads, func(v string) bool { return strings.HasPrefix(verb, v) })
}

// loopbackEndpoint reports whether a service on this machine stands for the provider's.
func (c *call) loopbackEndpoint() bool {
	w, ok := c.FlagValue("--endpoint-url")
	return ok && loopback(w.Value) || !ok && c.endpointHere()
}

// azReads are what ends the name of an operation of az that only asks, or keeps something on this machine;
// azOwn are groups about this machine alone.
var (
	azReads = lazyregexp.New(`^(list|show|get|check|query|exists?$|what-if|wait|download|export|login|logout|validate|tail|preview|view|help|version|generate|encode|decode|find|estimate|summarize|url$|browse|build$|decompile$|lint$|set-policy-preview)`)
	azOwn   = words("account login logout configure config extension bicep cloud interactive upgrade version self-test cache init find feedback help")
)

// azChanges reports whether an operation of az does more than ask.
func azChanges(c *call) bool {
	verb := ""
	if c.Sub() == "acr" && exactly("build")(c) {
		return !c.Flag("--no-push")
	}
	for i, w := range c.Args {
		switch {
		case i == 0 && azOwn[w.Value], c.Args[0].Value == "quantum" && w.Value == "set": // the latter chooses a default
			return false
		case w.Dynamic || w.Quoted || !bareWord.MatchString(w.Value):
			return verb != "" && i > 1 && !azReads.MatchString(verb)
		}
		verb = w.Value
	}
	return len(c.Args) > 1 && !azReads.MatchString(verb)
}

// producesHere reports whether a producer of messages writes to a broker of this machine.
func producesHere(c *call) bool {
	w, ok := c.FlagValue("--bootstrap-server", "--broker-list", "-b")
	return ok && local(w.Value)
}

// sqliteOutside reports whether the database file is outside the tree.
func sqliteOutside(c *call) bool {
	words := c.operands("-cmd -init -separator")
	return len(words) == 0 || strings.HasPrefix(words[0].Value, "md:") || c.outside(words[0], true)
}

// matchingFold is exactly, for commands that may be in capitals.
func matchingFold(names string) func(*call) bool {
	list := " " + names + " "
	return func(c *call) bool {
		for _, a := range c.Args {
			if strings.Contains(list, " "+strings.ToLower(a.Value)+" ") {
				return true
			}
		}
		return false
	}
}
