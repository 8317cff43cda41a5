package runtime

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// maxActs is the maximum number of commands that are examined.
const maxActs = 1000

// These recognise what commands do to services, by their words. A stop goes before a start, since
// "docker compose restart" is no stop and "kubectl scale --replicas=0" is no start.
var (
	stopping   = lazyregexp.New(`(?i)\b(stop|down|kill|pkill|killall|pause|disable|delete|destroy|drain|cordon|poweroff|shutdown|halt|disconnect|rm|remove|uninstall)\b|--replicas[= ]0\b|\bscale\b.*=0\b|\b(drop|reject)\b`)
	starting   = lazyregexp.New(`(?i)\b(restart|rollout|redeploy|deploy|reload|up|start|upgrade|promote|rollback)\b|\b(kubectl|oc) (apply|replace|create|set|patch|run)\b`)
	changing   = lazyregexp.New(`(?i)\b(undo|rollback|set|unset|patch|apply|install|edit|env|config|scale|promote|switch|update|image)\b|--set\b|\s-e\s`)
	networking = lazyregexp.New(`(?i)\b(iptables|ip6tables|nft|nftables|ufw|firewall-cmd|tc|route|ip (route|link|addr)|networkpolic\w*|security-group\w*|docker network|ifconfig|ifdown)\b`)
	databases  = lazyregexp.New(`(?i)\b(psql|mysql|mariadb|sqlite3?|sqlcmd|sqlplus|redis-cli|valkey-cli|mongo(sh)?|cqlsh|clickhouse(-client)?|alembic|flyway|liquibase|prisma|knex|goose|migrate|manage\.py|rails db|rake db|flask db)\b`)
	mutating   = lazyregexp.New(`(?i)\b(update|alter|drop|delete|insert|truncate|rename|replace|create|grant|revoke|flushall|flushdb|migrate|upgrade|downgrade|import|restore|del|unlink)\b|[<]|\s-f\b`)
	checkouts  = lazyregexp.New(`(?i)\bgit (checkout|reset|revert|stash|restore|switch|pull|merge|cherry-pick|apply|am|rebase)\b`)
	upgrading  = lazyregexp.New(`(?i)\b(pip3?|poetry|uv|npm|yarn|pnpm|gem|bundle|cargo|go|mvn|composer|apt|apt-get|yum|dnf|apk|brew)\b.*\b(install|add|update|upgrade|get|i|-U|bump)\b`)
)

// resources are what commands do to a machine that explains a class of symptoms.
var resources = map[string]*lazyregexp.Regexp{
	classFull:       lazyregexp.New(`(?i)\b(fallocate|dd|cp|rsync|tar|wget|curl|truncate|mysqldump|pg_dump|mongodump|mkfile|docker (pull|save|build)|zip|backup)\b`),
	classPermission: lazyregexp.New(`(?i)\b(chmod|chown|chgrp|chattr|setfacl|mount|umount|usermod|setenforce|semanage)\b`),
	classMemory:     lazyregexp.New(`(?i)\b(ulimit|prlimit|memory\w*|mem_limit|limits?|set-property|cgset|sysctl|swapoff)\b`),
	className:       lazyregexp.New(`(?i)/etc/(hosts|resolv)|\b(dns|resolvectl|coredns|nameserver|unbound|bind9?)\b`),
	classMissing:    lazyregexp.New(`(?i)\b(rm|mv|unlink|rmdir|clean|umount|ln|shred|git clean|git mv)\b`),
}

// readCommands reads the commands of the searched days that may have changed something, and from
// them and the spans when each service was started.
func (c *causes) readCommands() error {
	var all []commands.Intent
	known := map[schemas.EventID]bool{}
	for _, category := range []string{"deploy", "configure", ""} {
		most := maxCommands
		if category == "" {
			most = maxActs
		}
		found, err := c.j.a.commands(category, c.from, c.until, most)
		if err != nil {
			return err
		}
		for _, in := range found {
			if known[in.ID] || in.Untimed {
				continue
			}
			known[in.ID] = true
			all = append(all, in)
		}
	}
	writes, err := commands.Writes(c.j.a.Ctx, c.j.a.s.Commands, all)
	if err != nil {
		return err
	}
	for i, in := range all {
		if in.ExitCode != nil && *in.ExitCode != 0 {
			continue // it did not succeed
		}
		a := act{Intent: in, writes: writes[i]}
		a.stops = stopping.MatchString(in.Command)
		looks := in.Category == "query" || in.Category == "navigate" || in.Category == "debug"
		a.starts = !a.stops && !looks && (in.Category == "deploy" || starting.MatchString(in.Command))
		if looks && len(a.writes) == 0 && !a.stops && !(databases.MatchString(in.Command) && mutating.MatchString(in.Command)) {
			continue
		}
		c.acts = append(c.acts, a)
	}
	slices.SortStableFunc(c.acts, func(x, y act) int { return cmp.Or(y.Time.Compare(x.Time), x.Position.Compare(y.Position)) })
	c.starts = map[string][]start{}
	for service := range c.roles {
		c.starts[service] = c.startsOf(service)
	}
	return nil
}

// startsOf returns when a service was started, in order of time.
func (c *causes) startsOf(service string) (all []start) {
	for i := range c.acts {
		a := &c.acts[i]
		if a.starts && c.concerns(a, service) != "" {
			all = append(all, start{at: a.Time, shows: brief(a.Command), id: a.ID})
		}
	}
	versions := versionsOf(c.j.homes.observers[service].Observers)
	for _, v := range versions {
		older := slices.ContainsFunc(versions, func(o Version) bool { return o.First.Before(v.First) })
		if v.Version+v.Revision != "" && older && v.First.After(c.from) && v.First.Before(c.until) {
			all = append(all, start{at: v.First, shows: "version " + cmp.Or(v.Version, v.Revision)})
		}
	}
	slices.SortStableFunc(all, func(x, y start) int { return x.at.Compare(y.at) })
	return all
}

// concerns describes how a command concerns a service, or returns "". A command that names another
// service concerns that one alone.
func (c *causes) concerns(a *act, service string) string {
	return concerns(a.Intent, service, c.j.homes.observers, c.homeFor)
}

// takesEffect returns when a change of a service's code or configuration at a time took effect: at
// the next start of the service. known is false if no start of the service is recorded.
func (c *causes) takesEffect(service string, x *suspect) (at start, deployed, known bool) {
	for _, s := range c.starts[service] {
		if s.at.Before(x.Time) {
			continue
		}
		return s, true, true
	}
	return start{}, false, len(c.starts[service]) > 0
}

// commands makes suspects of commands.
func (c *causes) commands(commits []*suspect) (all []*suspect) {
	carried := map[schemas.EventID]bool{}
	for _, x := range commits {
		if x.linked && !x.hollow {
			for s := range c.roles {
				if at, ok, _ := c.takesEffect(s, x); ok && at.at.Equal(x.live) {
					carried[at.id] = true
				}
			}
		}
	}
	for i := range c.acts {
		a := &c.acts[i]
		kind := "command"
		if a.starts {
			kind = "deploy"
		}
		x := newSuspect(kind, a.Time, map[string]string{"deploy": "a deploy", "command": "a command"}[kind])
		x.Command = &a.Intent
		addWords(x.words, a.Command)
		c.linkWrites(x, a)
		c.linkNames(x, a)
		c.linkResource(x, a)
		if a.starts && carried[a.ID] {
			continue // it is evidence of the commits that it carried
		}
		all = append(all, x)
	}
	return all
}

// linkWrites links a command that wrote files which the failure concerns.
func (c *causes) linkWrites(x *suspect, a *act) {
	text := c.sym.text
	for _, path := range a.writes {
		name := last(path)
		dir := strings.TrimSuffix(path, "/"+name)
		switch {
		case len(path) > 4 && strings.Contains(text, path), len(name) > 3 && c.namesFile(text, path):
			x.link("named file", 4, "wrote "+path+", which the failure names")
		case c.sym.class == classFull && strings.Count(dir, "/") > 1 && strings.Contains(text, dir+"/"):
			x.link("named file", 3.5, "wrote into "+dir+", where the failure wrote")
		}
		for service, r := range c.roles {
			home := c.homeFor(service)
			if home == nil {
				continue
			}
			below := c.below(home, path, a)
			if below == "" {
				continue
			}
			weight := map[role]float64{roleOwn: 3, roleCalled: 2, roleCaller: 0.8}[r]
			for n, f := range c.sym.frames {
				if r == roleOwn && c.place(home, f.file) == below {
					weight = max(weight, 4-0.5*float64(min(n, 2)))
				}
			}
			if x.role < r {
				x.role = r
			}
			x.link("edited", weight, "edited "+below+" of "+service)
			// A program reads some files at each use and others at its start, so the later of both
			// that fits is not known: the edit itself is the earliest.
			if s, ok, _ := c.takesEffect(service, x); ok && (sourceFile(below) || s.at.Sub(x.Time) < restartSoon) {
				x.live = s.at
			}
		}
	}
}

// restartSoon is how soon after an edit a start of the service is taken to belong to it.
const restartSoon = 15 * time.Minute

// sourceFile reports whether a path is that of a program's source.
func sourceFile(path string) bool {
	for _, s := range []string{".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".java", ".kt", ".scala", ".rb", ".rs", ".cs", ".php", ".c", ".cc", ".cpp", ".h"} {
		if strings.HasSuffix(path, s) {
			return true
		}
	}
	return false
}

// namesFile reports whether a text names the end of a path, of two parts at least.
func (c *causes) namesFile(text, path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	return len(parts) > 1 && strings.Contains(text, "/"+strings.Join(parts[len(parts)-2:], "/"))
}

// below returns the path in the repository of a file that a command wrote below a service's folder,
// or "". A command's folder shows which repository it is in only by its name.
func (c *causes) below(home *Home, path string, a *act) string {
	repo := last(strings.TrimSuffix(home.Repo, ".git"))
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		if p == repo && i+1 < len(parts) {
			if rest := strings.Join(parts[i+1:], "/"); home.holds(home.Repo, rest) || rest == home.Dir {
				return rest
			}
		}
	}
	if home.Dir != "" {
		if i := strings.Index("/"+strings.Join(parts, "/")+"/", "/"+home.Dir+"/"); i >= 0 {
			return strings.Join(parts, "/")[i:]
		}
	}
	return ""
}

// linkNames links a command that names what failed, what it called, or its service.
func (c *causes) linkNames(x *suspect, a *act) {
	for _, name := range c.sym.aliases {
		if !hasWord(a.Command, name) {
			continue
		}
		x.role = max(x.role, roleCalled)
		switch {
		case a.stops && c.sym.unreachable():
			x.link("stopped", 4.5, "stopped "+name+", which "+c.span.service+" called")
		case networking.MatchString(a.Command) && c.sym.unreachable():
			x.link("network", 4, "changed the network of "+name+", which "+c.span.service+" called")
		case a.starts && c.sym.unreachable():
			x.link("about", 2, "started "+name+" anew, which "+c.span.service+" called")
		default:
			x.link("about", 1.5, "names "+name+", which "+c.span.service+" called")
		}
	}
	for service, r := range c.roles {
		by := c.concerns(a, service)
		if by == "" || !strings.HasPrefix(by, "names ") && !a.starts {
			continue
		}
		weight := map[role]float64{roleOwn: 1.3, roleCalled: 0.8, roleCaller: -2.5}[r]
		if r == roleOwn && a.starts && !changing.MatchString(a.Command) {
			// The same once more seldom breaks anything, least of all what it calls.
			weight = 0.3
			if c.sym.unreachable() || c.sym.answered > 0 {
				weight = -0.7
			}
		}
		if !strings.HasPrefix(by, "names ") {
			weight -= 0.8
		}
		x.role = max(x.role, r)
		x.link("about", weight, by)
	}
	if checkouts.MatchString(a.Command) {
		home := c.homeFor(c.span.service)
		if home != nil && slices.Contains(strings.Split(a.Cwd, "/"), last(strings.TrimSuffix(home.Repo, ".git"))) {
			weight := 1.5
			if home.Dir != "" && hasWord(a.Command, last(home.Dir)) {
				weight = 3
			}
			x.role = roleOwn
			x.link("edited", weight, "changed the working tree of "+home.Repo)
			if s, ok, _ := c.takesEffect(c.span.service, x); ok {
				x.live = s.at
			}
		}
	}
	if networking.MatchString(a.Command) && c.sym.unreachable() {
		x.link("network", 2.5, "changed the network")
	}
	if upgrading.MatchString(a.Command) && (len(c.sym.frames)+len(c.sym.libraries) > 0) {
		for service, r := range c.roles {
			if r == roleOwn && (c.concerns(a, service) != "" || x.role == roleOwn) {
				x.link("upgrade", 2.5, "installed other versions of libraries")
				if s, ok, _ := c.takesEffect(service, x); ok {
					x.live = s.at
				}
			}
		}
	}
}

// linkResource links a command whose effect explains the class of the symptom.
func (c *causes) linkResource(x *suspect, a *act) {
	if databases.MatchString(a.Command) && mutating.MatchString(a.Command) {
		for _, word := range slices.Sorted(maps.Keys(x.words)) {
			if c.sym.used[word] {
				x.link("data", 2.5, "worked on "+word+", which the failing operation reads")
				break
			}
		}
	}
	if does := resources[c.sym.class]; does != nil && does.MatchString(a.Command) {
		x.link("resource", 3.5, "may have led to: "+c.sym.class)
	}
}
