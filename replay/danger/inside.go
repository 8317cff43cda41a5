package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Conditions about where a call works: in a directory of the machine, in the tree, or in a cluster or a root of its own.

// localContext matches contexts of clusters that run on this machine.
var localContext = lazyregexp.New(`^((kind|k3d)-.*|minikube|docker-desktop|docker-for-desktop|rancher-desktop|orbstack|colima(-.*)?|microk8s)$`)

// localCluster reports whether the cluster that a call talks to runs on this machine, as a flag says or what the line
// chose before.
func (c *call) localCluster() bool {
	if w, ok := c.FlagValue("--context", "--kube-context"); ok {
		return localContext.MatchString(w.Value)
	}
	for i := c.at - 1; i >= 0; i-- {
		o := &call{Call: &c.line.Calls[i], line: c.line, at: i, place: c.place}
		if ws := shell.Operands(o.Args, ""); o.Name == "kubectx" && len(ws) == 1 || o.Name == "kubectl" && len(ws) == 3 && ws[1].Value == "use-context" {
			return localContext.MatchString(ws[len(ws)-1].Value)
		}
	}
	return false
}

// unpacks reports whether a call takes files out of an archive.
func (c *call) unpacks() bool {
	switch {
	case c.Name == "borg":
		return true
	case c.Name == "cpio":
		return c.Flag("-i", "--extract")
	case c.Flag("-t", "--list", "-c", "--create"):
		return false
	case len(c.Args) > 0 && bundledWord.MatchString(c.Args[0].Value) && c.Args[0].Value[0] != '-':
		return strings.Contains(c.Args[0].Value, "x")
	}
	return c.Flag("-x", "--extract", "--get")
}

// gluedOfSystem reports whether the directory that tar is given in one word with other flags belongs to the machine:
// tar xzfC a.tgz /etc, whose values follow in the order of their letters, or tar -xzC/etc.
func gluedOfSystem(c *call) bool {
	if len(c.Args) == 0 || c.Name != "tar" && c.Name != "bsdtar" || strings.HasPrefix(c.Args[0].Value, "--") {
		return false
	}
	first, at := c.Args[0].Value, 0
	for i := range len(first) {
		switch {
		case first[0] == '-' && first[i] == 'C':
			return c.ofMachine(shell.Word{Value: first[i+1:]})
		case first[0] != '-' && strings.IndexByte("fCbTXgKLNVHIF", first[i]) >= 0:
			if at++; first[i] == 'C' {
				return at < len(c.Args) && c.ofMachine(c.Args[at])
			}
		}
	}
	return false
}

// ofMachine reports whether a path belongs to the machine and is no software installed by hand.
func (c *call) ofMachine(w shell.Word) bool {
	name, ok := shell.Resolve(w, c.Dir, c.place.Home)
	return ok && c.place.ofSystem(name) && !software(name)
}

// lastOutside reports whether the last operand, or the directory that a flag names, is outside the tree and no software
// installed by hand.
func lastOutside(c *call) bool {
	words := c.operands("-S -t")
	if t, ok := c.FlagValue("-t", "--target-directory"); ok {
		return c.outside(t, false)
	}
	if len(words) < 2 {
		return false
	}
	to := words[len(words)-1]
	name, ok := shell.Resolve(to, c.Dir, c.place.Home)
	return c.outside(to, false) && !(ok && software(name))
}

// runsInSystem reports whether a call runs in a directory that belongs to the machine and is no software installed by
// hand.
func runsInSystem(c *call) bool {
	return !c.Abroad && c.Dir != "" && c.place.ofSystem(c.Dir) && !software(c.Dir)
}

// inOwnRoot reports whether a call runs with a directory below the tree as its root.
func (c *call) inOwnRoot() bool {
	if !slices.Contains(c.Via, "chroot") || slices.ContainsFunc(c.Via, func(v string) bool { return v == "ssh" || strings.HasSuffix(v, "exec") || strings.HasSuffix(v, "run") }) {
		return false
	}
	for i := c.at - 1; i >= 0; i-- {
		if o := (&call{Call: &c.line.Calls[i], line: c.line, at: i, place: c.place}); o.Name == "chroot" {
			ws := shell.Operands(o.Args, "--userspec --groups")
			return len(ws) > 0 && !o.outside(ws[0], true)
		}
	}
	return false
}

// syncsInside reports whether rclone makes a directory below the tree like another storage.
func syncsInside(c *call) bool {
	ws := shell.Operands(c.After(), "--config --transfers --checkers --exclude --include --filter --filter-from --bwlimit --max-age --min-age")
	return c.Sub() == "sync" && len(ws) == 2 && !strings.Contains(ws[1].Value, ":") && !c.outside(ws[1], true)
}

// fetchesHere reports whether a client of a storage copies into a path below the tree. Names of mc may look like one.
func fetchesHere(c *call) bool {
	ws := shell.Operands(c.After(), "")
	if len(ws) < 2 || c.Name == "rclone" || !words("cp copy c mirror sync get")[c.Sub()] {
		return false
	}
	to := ws[len(ws)-1]
	return !strings.Contains(to.Value, "://") && (c.Name != "mc" || strings.HasPrefix(to.Value, ".") || strings.HasPrefix(to.Value, "/")) && !c.outside(to, true)
}

// fetchesFile reports whether sftp is told which file to fetch, and nothing else.
func fetchesFile(c *call) bool {
	ws := c.operands("-b -B -c -D -F -i -J -l -o -P -R -S -s -X")
	if c.Name == "sftp" && len(ws) == 1 && c.Document != nil && !strings.Contains(ws[0].Value, ":") {
		for line := range strings.Lines(*c.Document) {
			if f := strings.Fields(line); len(f) > 0 && !words("get mget reget ls cd lcd pwd lpwd lls bye quit exit progress df")[f[0]] {
				return false
			}
		}
		return true
	}
	if c.Name != "sftp" || len(ws) == 0 || c.isFed() || c.Flag("-b") {
		return false
	}
	_, file, ok := strings.Cut(ws[0].Value, ":")
	return ok && file != "" && !strings.HasPrefix(file, "//") && !strings.HasSuffix(file, "/") && (len(ws) == 1 || !c.outside(ws[1], true))
}

// ownRepository reports whether the store of backups that a call works on is below the tree.
func (c *call) ownRepository() bool {
	if !words("restic rustic borg kopia bup")[c.Name] {
		return false
	}
	if w, ok := c.FlagValue("-r", "--repo"); ok {
		return !strings.Contains(w.Value, ":") && !c.outside(w, true)
	}
	for _, v := range slices.Concat(c.Assigns, c.line.Assigned) {
		if v.Name == "RESTIC_REPOSITORY" || v.Name == "BORG_REPO" {
			return !v.Unknown && !strings.Contains(v.Value.Value, ":") && !c.outside(v.Value, true)
		}
	}
	ws := shell.Operands(c.After(), "")
	if c.Name != "borg" || len(ws) == 0 {
		return false
	}
	repository, _, _ := strings.Cut(ws[0].Value, "::")
	return repository != "" && !strings.Contains(repository, ":") && strings.Contains(repository, "/") && !c.outside(shell.Word{Value: repository, Dynamic: ws[0].Dynamic}, true)
}

// asSuperuser reports whether a call runs as the user who may do everything in PostgreSQL.
func (c *call) asSuperuser() bool {
	return c.asRoot() && slices.ContainsFunc(c.line.Calls[:c.at], func(o shell.Call) bool {
		return o.Wraps && slices.ContainsFunc(o.Args, func(w shell.Word) bool { return strings.TrimPrefix(w.Value, "-u") == "postgres" })
	})
}

// rights matches statements that say who may do what.
var rights = lazyregexp.New(`(?i)\b(grant\s[^;]*\sto\s|revoke\s[^;]*\sfrom\s|alter\s+(user|role)\s|create\s+(user|role)\s[^;]*\b(superuser|createrole|bypassrls|replication)\b)`)

// changesRights reports whether a client of a database is told, in the line, who may do what.
func (c *call) changesRights() bool {
	return c.matches(rights) || slices.ContainsFunc(c.fedTexts(), rights.MatchString)
}

// fedHere reports whether a client is told, by what it reads, that its server is on this machine.
func fedHere(c *call) bool {
	for _, text := range c.fedTexts() {
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "server" {
				return local(f[1])
			}
		}
	}
	return false
}

// getsOnly reports whether a call says that it only gets something, by the method of its request.
func getsOnly(c *call) bool {
	w, ok := c.FlagValue("-X", "--method")
	return ok && strings.EqualFold(w.Value, "GET")
}

// asksGraph reports whether a call asks by GraphQL, with a query that is in its words.
func asksGraph(c *call) bool {
	return exactly("graphql")(c) && !c.Flag("--input") && matching(`^query=[^@]`)(c) && !c.names(func(s string) bool { return strings.Contains(s, "mutation") })
}

// editsByItself reports whether an editor is told in the line what to change and to write.
func editsByItself(c *call) bool {
	return (c.Name == "ed" || c.Name == "ex") && c.isFed() || c.Flag("-c", "-es", "-s") && matching(`^(-c)?:?(\S.*\|\s*)?(w|wq|wqa|x|xa|up|update)!?$`)(c)
}

func editsSystem(c *call) bool { return c.anyOperand("-c --cmd", c.place.ofSystem) }

// tellsQuestion reports whether the statement that a flag tells a database only asks.
func (c *call) tellsQuestion() bool {
	w, ok := c.FlagValue("--command")
	return ok && !changesBy("", w.Value)
}

// mounting returns the call that shows a container a directory of the machine in which a redirection there writes, nil
// if there is none.
func mounting(l *shell.Line, rd shell.Redirect, at Place) *call {
	for i := range l.Calls {
		c := &call{Call: &l.Calls[i], line: l, at: i, place: at}
		if c.Name != "docker" && c.Name != "podman" || c.Sub() != "run" {
			continue
		}
		for i, w := range c.Args {
			if i == 0 || c.Args[i-1].Value != "-v" && c.Args[i-1].Value != "--volume" {
				continue
			}
			f := strings.Split(w.Value, ":")
			if len(f) == 2 && at.ofSystem(f[0]) && below(rd.Target.Value, strings.TrimSuffix(f[1], "/")) {
				return c
			}
		}
	}
	return nil
}

// privileged matches groups whose members may do what the administrator of a machine may.
var privileged = lazyregexp.New(`(^|,)(sudo|wheel|admin|adm|root|docker|lxd|libvirt|disk|shadow)(,|$)`)

// joinsPrivileged reports whether adduser puts a user into such a group.
func joinsPrivileged(c *call) bool {
	ws := c.operands("--uid --gid --home --shell --gecos --ingroup")
	return len(ws) == 2 && privileged.MatchString(ws[1].Value)
}

// lastOfSecurity reports whether the last operand is a file of the user's own security outside the tree: what ssh trusts,
// or the history of a shell.
func lastOfSecurity(c *call) bool {
	ws := c.operands("-S -m -o -g --mode -s --size")
	if len(ws) == 0 || len(ws) == 1 && (c.Name == "cp" || c.Name == "mv" || c.Name == "ln" || c.Name == "rsync") {
		return false
	}
	name, ok := shell.Resolve(ws[len(ws)-1], c.Dir, c.place.Home)
	return ok && !c.Abroad && !c.place.within(name) && (strings.Contains(name, "/.ssh/") && !strings.HasSuffix(name, "/") && c.Name != "touch" || strings.HasSuffix(name, "_history"))
}

// namesKeys reports whether an operand is where ssh or gpg keeps what is the user's own.
func (c *call) namesKeys() bool {
	return c.anyOperand("", func(name string) bool {
		return !c.place.within(name) && (strings.Contains(name+"/", "/.ssh/") || strings.Contains(name+"/", "/.gnupg/")) && !strings.HasSuffix(name, ".pub")
	})
}

// wentTo returns the directory that the last cd or pushd before a call names, where the reader of lines did not know the home
// directory; "" if that is not known.
func (c *call) wentTo() string {
	for i := c.at - 1; i >= 0 && c.place.Cwd != "" && !c.Abroad && !c.Deferred; i-- {
		o := &c.line.Calls[i]
		if o.Name != "cd" && o.Name != "pushd" {
			continue
		}
		if len(o.Args) == 1 && (strings.HasPrefix(o.Args[0].Value, "~") || strings.HasPrefix(o.Args[0].Value, "$HOME")) {
			name, _ := shell.Resolve(o.Args[0], "", c.place.Home)
			return name
		}
		return ""
	}
	return ""
}
