package danger

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
)

// Unknown returns the programs of a line about which nothing is known, in source order, each once: no table
// of Recount has them, they are not the plan's own, and no word of the call says that it only asks. Of a
// program that talks to a network it names a subcommand that no table has, as "gcloud beta". It leaves out
// what Find finds, which is asked about for what it is.
func Unknown(l *shell.Line, at Place) (programs []string) {
	if len(at.Tree) == 0 && at.Cwd != "" {
		at.Tree = []string{at.Cwd}
	}
	at.judge = rulesOf
	l = unfold(l, at)
	at.plain = true
	add := func(names ...string) {
		for _, name := range names {
			if name != "" && !slices.Contains(programs, name) {
				programs = append(programs, name)
			}
		}
	}
	for i := range l.Calls {
		c := &call{Call: &l.Calls[i], line: l, at: i, place: at}
		add(c.unknown())
		for _, inner := range c.lines() {
			add(Unknown(inner, c.deeper())...)
		}
	}
	return programs
}

// unknown returns what is not known of a call: its program, or that with a subcommand. It is "" if both are
// known.
func (c *call) unknown() string {
	if _, _, runs := c.runsAnother(); runs || c.Abroad || c.Wraps || c.own() || c.onlySays() || c.staysHere() || c.found() {
		return ""
	}
	if c.Name == "" {
		return c.Head.Text
	}
	switch {
	case textPrograms[c.Name], ownPrograms[c.Name], files[c.Name], diskReaders[c.Name], languages[c.languageName()], effects.Knows(c.Call), c.asks():
		return ""
	case modules[c.Name] && len(c.Via) > 0 && strings.HasPrefix(c.Via[len(c.Via)-1], "python"):
		return ""
	}
	described, subcommands := command.Describes(c.Name)
	talks, ruled := programs()[c.tabled()]
	switch {
	case !ruled && !described:
		return c.Name
	case !talks, described && !subcommands, looks(c), ownSettings(c):
		return ""
	}
	at := len(c.Args) - len(c.After()) - 1 // of the subcommand
	if at == len(c.Args) || len(c.Args) == 0 || !c.Args[at].Dynamic && c.closed() {
		return ""
	}
	name := c.Name + " " + c.Args[at].Value
	described, _ = command.Describes(name)
	switch {
	case c.Args[at].Dynamic:
		return c.Name + " " + c.Args[at].Text
	case described, index()[name] != nil, themes()[name] != nil, !bareWord.MatchString(c.Args[at].Value):
		return ""
	case at > 0:
		return c.Name // the word may be the value of a flag
	}
	return name
}

// found reports whether a rule finds the call dangerous.
func (c *call) found() bool {
	return slices.ContainsFunc(rulesOf(c), func(r rule) bool { return r.when == nil || r.when(c) })
}

// closed reports whether the table finds all that it does not know about the program of a call dangerous, so
// that it knows what it does not find.
func (c *call) closed() bool {
	other := shell.Word{Text: "other", Value: "other"}
	return (&call{Call: &shell.Call{Name: c.Name, Head: c.Head, Args: []shell.Word{other, other}, Dir: c.Dir}, line: &shell.Line{}, place: c.place}).found()
}

// talking are the kinds of rules about programs that talk to a network.
var talking = words("cluster infrastructure publish send remote mail database")

// modules are those of Python itself that can be called by name and reach nobody.
var modules = words(`ast base64 calendar code compileall cProfile dis ensurepip gzip http.server inspect json.tool pdb pickletools platform profile
	pstats py_compile pydoc quopri site sqlite3 symtable sysconfig tabnanny tarfile this timeit tokenize trace unittest uuid venv zipapp zipfile`)

// programs has the programs of the table, and whether they talk to a network.
var programs = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, byName := range [...]map[string][]rule{index(), themes()} {
		for names, rules := range byName {
			name, _, _ := strings.Cut(names, " ")
			for _, r := range rules {
				m[name] = m[name] || talking[r.kind]
			}
		}
	}
	return m
})

// fetched are directories of a project below which package managers put programs of others.
var fetched = words("node_modules vendor venv .venv")

// own reports whether the program of a call is the plan's own: a function, what the narrative builds, or a
// file below the tree that no package manager put there.
func (c *call) own() bool {
	switch {
	case slices.Contains(c.place.Own, c.Name), slices.Contains(c.line.Functions, c.Name), c.Name == "" && strings.Contains(c.Head.Text, "="):
		return true
	case !strings.Contains(c.Head.Value, "/"):
		return slices.Contains(c.place.Built, c.Name)
	}
	name, ok := shell.Resolve(c.Head, c.Dir, c.place.Home)
	return ok && c.place.within(name) && !slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return fetched[dir] })
}
