package plan

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/replay/transform"
	"github.com/recountdb/recount/schemas"
)

// step returns the step that an act becomes.
func (b *builder) step(i int) replay.Step {
	a := b.w.acts[i]
	k := b.index[i]
	st := replay.Step{
		Index: k, Intent: a.ID, Position: a.Position, Original: a.Command, Shell: a.Shell, Session: a.Session,
		Sets: b.sets(i), Cwd: b.m.Directory(a.Cwd), Why: b.s.why[i], Exit: a.ExitCode, Duration: a.Duration,
		Background: a.Background, EndedBy: b.endedBy(a), OwnShell: a.ownShell,
	}
	home := b.m.Path(a.home)
	out := b.m.Command(transform.Input{Text: a.text, Shell: a.Shell, Cwd: a.Cwd, User: a.User, Home: a.home, Line: a.whole, Names: named(a), Status: b.w.statusBefore(a)})
	st.Command, st.Asks = out.Text, out.Asks
	b.environment(a, &st)
	if dir := b.w.cameFrom(a); dir != "" {
		if st.Env == nil {
			st.Env = map[string]string{}
		}
		st.Env["OLDPWD"] = b.m.Directory(dir)
	}
	b.asks(a, &st)
	for _, d := range a.deps {
		on, kept := b.index[d.on]
		if !kept || d.kind == replay.NeedOrder {
			continue
		}
		st.Needs = append(st.Needs, replay.Need{
			On: on, Kind: d.kind, What: b.mapped(d.kind, d.what), Confidence: d.sure,
			Evidence: []schemas.Position{b.w.acts[d.on].Position, a.Position},
		})
	}
	if a.untold != "" {
		b.post(i, a, &st)
		return st
	}
	if l, err := shell.ReadIn(st.Command, a.Shell, st.Cwd, home, nil); err == nil {
		place := danger.Place{Cwd: st.Cwd, Home: home, Tree: b.tree, Own: slices.Concat(a.Followed, a.scripts), Remotes: b.remotes(i), Vars: b.known(a), Lasting: len(a.Functions) > 0}
		place.Cloned, place.Begun, place.Branches = b.made(i)
		t := b.told(a)
		place.Functions, place.Aliases, place.Values = t.functions, t.aliases, t.values
		st.Danger, st.Unknown = dangers(l, place), danger.Unknown(l, place)
		if len(st.Unknown) > 0 {
			place.Built = b.built(i)
			st.Unknown = danger.Unknown(l, place)
		}
		b.learn(a, l, home)
		t.learn(l)
	} else {
		delete(b.vars, a.Session) // it may set any
	}
	b.post(i, a, &st)
	return st
}

// dangers returns what is dangerous about a line. What it does to the history of a repository that the plan begins is
// dangerous unless the run begins it, too: there may be one already. A repository that it clones cannot have been there.
func dangers(l *shell.Line, place danger.Place) []danger.Finding {
	found := danger.Find(l, place)
	known := place
	known.Paths = true
	sure := danger.Find(l, known)
	for i := range found {
		f := &found[i]
		f.Whole = f.Kind == "remove" && !slices.ContainsFunc(sure, func(o danger.Finding) bool { return o.What == f.What })
	}
	for _, repository := range place.Begun {
		without := place
		without.Begun = slices.DeleteFunc(slices.Clone(place.Begun), func(name string) bool { return name == repository })
		if slices.Contains(place.Cloned, repository) {
			continue
		}
		for _, f := range danger.Find(l, without) {
			if !slices.ContainsFunc(found, func(o danger.Finding) bool { return o.What == f.What }) {
				f.Unless = repository
				found = append(found, f)
			}
		}
	}
	return found
}

// endedBy returns the step that ends what an act left running in the background, if one is known to.
func (b *builder) endedBy(a *act) *int {
	if !a.Background {
		return nil
	}
	for _, o := range a.writes {
		if o.thing.Kind == effects.Job && o.gone >= 0 && b.s.kept[o.gone] {
			on := b.index[o.gone]
			return &on
		}
	}
	return nil
}

// remotes returns the remotes of an act's repository that the acts before it set, with where they are on this
// machine; "" is another one.
func (b *builder) remotes(i int) map[string]string {
	at := map[string]string{}
	for _, t := range b.w.acts[i].Things {
		if t.Kind != effects.Repository {
			continue
		}
		for _, o := range b.w.acts[:i] {
			for _, r := range o.Things {
				switch {
				case r.Kind != effects.Remote || r.Repo != t.Repo:
				case r.Access == effects.Remove:
					delete(at, r.Name)
				case strings.HasPrefix(r.Value, "/"):
					at[r.Name] = b.m.Path(r.Value)
				default:
					at[r.Name] = r.Value
				}
			}
		}
	}
	return at
}

// built returns the names of programs that the acts before an act may have made: what they write into a
// directory of programs, and what is built of a path of the narrative or of its workspace.
func (b *builder) built(i int) (names []string) {
	for _, a := range b.w.acts[:i] {
		for _, t := range a.Things {
			if t.Kind == effects.Path && t.Access != effects.Read && path.Base(path.Dir(t.Name)) == "bin" {
				names = append(names, path.Base(t.Name))
			}
		}
		if !a.Built || a.Line == nil {
			continue
		}
		names = append(names, path.Base(cmp.Or(a.Workspace, a.Cwd)), path.Base(a.Cwd))
		for k := range a.Line.Calls {
			for _, w := range a.Line.Calls[k].Args {
				if name, ok := shell.Resolve(w, a.Line.Calls[k].Dir, a.home); ok && strings.Contains(w.Value, "/") {
					names = append(names, path.Base(name))
				}
			}
		}
	}
	return names
}

// sets returns the variables, functions and options that an act changes in its shell. A variable that
// only a function sets counts if another step uses it.
func (b *builder) sets(i int) []string {
	a := b.w.acts[i]
	all := slices.Concat(a.Sets, a.Unsets)
	return slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains(a.Passing, name) && !slices.ContainsFunc(b.w.acts[i+1:], func(o *act) bool {
			return b.s.kept[o.at] && slices.ContainsFunc(o.deps, func(d dep) bool {
				return d.on == i && d.kind == replay.NeedEnvironment && d.what == name
			})
		})
	})
}

// mapped maps the name of a thing that a step needs to the other place.
func (b *builder) mapped(kind, what string) string {
	if strings.HasPrefix(what, "/") {
		return b.m.Path(what)
	}
	switch kind {
	case replay.NeedBranch:
		return b.m.Name(transform.Branch, what)
	case replay.NeedImage:
		return b.m.Name(transform.Image, what)
	case replay.NeedContainer:
		return b.m.Name(transform.Container, what)
	}
	return what
}

// named returns the names that an act uses, by kind of mapping, for the mapping of a command's words.
func named(a *act) map[string][]string {
	out := map[string][]string{}
	for _, r := range a.Resources {
		switch r.Kind {
		case transform.Host, transform.Port, transform.Branch, transform.Container, transform.Image:
			out[r.Kind] = append(out[r.Kind], r.Name)
		}
	}
	for _, t := range a.Things {
		if isPath(t) && !t.Glob {
			out[transform.Path] = append(out[transform.Path], t.Name)
		}
	}
	return out
}

// environment sets a step's recorded environment, without values that were redacted.
func (b *builder) environment(a *act, st *replay.Step) {
	env := b.n.Env[a.ContextHash]
	for _, name := range slices.Sorted(maps.Keys(env)) {
		v := env[name]
		if strings.Contains(v, "[redacted:") {
			st.Asks = append(st.Asks, replay.Ask{Kind: replay.AskEnvironment, Text: fmt.Sprintf("the value of %s was redacted when it was recorded: give it in the environment", name), Name: name})
			continue
		}
		if st.Env == nil {
			st.Env = map[string]string{}
		}
		st.Env[name] = b.m.Text(v)
	}
}

// asks adds the questions about an act that do not depend on the mapping.
func (b *builder) asks(a *act, st *replay.Step) {
	add := func(kind, text string) { st.Asks = append(st.Asks, replay.Ask{Kind: kind, Text: text}) }
	if a.Interactive != "" {
		add(replay.AskTerminal, fmt.Sprintf("%s needs a terminal, which a replay does not have: it is not run; --without goes on without it", a.Interactive))
	}
	if a.untold != "" {
		st.Asks = append(st.Asks, unwritten(a.Command, a.untold))
	}
	if a.failed {
		add(replay.AskFailed, fmt.Sprintf("it failed with exit code %d when it was recorded", *a.ExitCode))
	}
	if a.ended {
		add(replay.AskFailed, "it was interrupted when it was recorded")
	}
}

// post sets the postconditions of a step: what holds after it ran.
func (b *builder) post(i int, a *act, st *replay.Step) {
	st.Post = []replay.Postcondition{}
	p := posts{builder: b, i: i, a: a, st: st, more: len(a.Opaque) > 0 || a.Line == nil || a.observed}
	for n, o := range a.writes {
		switch t := o.thing; {
		case slices.ContainsFunc(a.writes[n+1:], func(later *write) bool { return later.thing == t }):
		case isPath(t):
			p.path(t)
		case t.Kind == effects.Branch || t.Kind == effects.Tag:
			p.ref(t)
		default:
			p.thing(t)
		}
	}
	slices.Sort(st.Outputs)
	st.Outputs = slices.Compact(st.Outputs)
	switch {
	case len(b.sets(i)) > 0 || p.untold || p.unknown && len(st.Post) == 0:
		st.Post = append(st.Post[:0], replay.Postcondition{Kind: replay.PostNone})
	case p.head: // what git wrote into the tree is there if HEAD is
		if b.moved == nil {
			b.moved = map[int]bool{}
		}
		b.moved[st.Index] = true
	case p.more:
		b.wide = append(b.wide, st.Index)
	case len(st.Post) == 0:
		st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostNone})
	}
}

// posts are the postconditions of a step while they are collected.
type posts struct {
	*builder
	i  int
	a  *act
	st *replay.Step
	// unknown means that there is an effect without a postcondition, untold that no postcondition tells whether
	// the step was done, head that HEAD moved, and more that the step may have written more than is listed.
	unknown, untold, head, more bool
}

// add adds a postcondition that a thing gives.
func (p *posts) add(post replay.Postcondition, t effects.Thing) {
	j := p.replacer(p.i, t)
	if c := p.committer(p.i, t); c >= 0 && (j < 0 || c < j) {
		j = c
	}
	if j >= 0 {
		on := p.index[j]
		post.ReplacedBy = &on
	}
	p.st.Post = append(p.st.Post, post)
}

// addIf adds a postcondition if the thing certainly gives it.
func (p *posts) addIf(ok bool, kind, target string, t effects.Thing) {
	if ok {
		p.add(replay.Postcondition{Kind: kind, Target: target}, t)
	} else {
		p.unknown = true
	}
}

// passing reports whether the act itself removes the path that it writes, or writes the one that it removes.
func (p *posts) passing(t effects.Thing) bool {
	at := len(p.a.Things) - 1
	for p.a.Things[at] != t {
		at--
	}
	return slices.ContainsFunc(p.a.Things[at+1:], func(u effects.Thing) bool {
		if t.Access == effects.Remove {
			return u.Access == effects.Write && isPath(u) && u.Name == t.Name && u.Sure >= 0.9
		}
		return u.Access == effects.Remove && isPath(u) && !u.Glob && (covers(u, t) || within(t.Name, u.Name))
	})
}

// path adds what holds of a file or a directory.
func (p *posts) path(t effects.Thing) {
	post := replay.Postcondition{Kind: replay.PostFile, Target: p.m.Path(t.Name)}
	switch {
	case effects.Temporary(t.Name):
		p.unknown = true
		return
	case t.Glob || t.Partial || t.Sure <= 0.6 && t.Access == effects.Update:
		p.more = true
		return
	case p.passing(t):
		return
	case t.Access == effects.Remove:
		post.Kind = replay.PostAbsent
	case t.Kind == effects.Directory:
		post.Kind = replay.PostDirectory
	case t.Tree && t.Access == effects.Update:
		p.more = true
		return
	case !p.certain(p.a, t):
		return
	case t.Value != "" && t.Access == effects.Write:
		post.Kind, post.Hash = replay.PostLink, p.m.Path(t.Value)
	default:
		post.Updates = t.Access == effects.Update
		if t.Tree && (p.isDirectory(t.Name) || p.a.Line != nil && t.Sure >= 0.9 && strings.HasPrefix(path.Base(t.Name), ".git")) {
			post.Kind = replay.PostDirectory
		}
	}
	if post.Kind == replay.PostDirectory && p.removes(t.Name) {
		p.untold = true // another directory was there before
	}
	p.add(post, t)
	p.st.Outputs = append(p.st.Outputs, post.Target)
}

// removes reports whether the act itself removes a path.
func (p *posts) removes(name string) bool {
	return slices.ContainsFunc(p.a.Things, func(t effects.Thing) bool {
		return isPath(t) && t.Access == effects.Remove && t.Name == name
	})
}

// ref adds what holds of a branch or a tag.
func (p *posts) ref(t effects.Thing) {
	kind, gone, name := replay.PostTag, replay.PostNoTag, t.Name
	if t.Kind == effects.Branch {
		kind, gone, name = replay.PostBranch, replay.PostNoBranch, p.m.Name(transform.Branch, t.Name)
	}
	switch {
	case t.Access == effects.Remove:
		p.addIf(true, gone, name, t)
	case t.Access == effects.Write && movesRefs(p.a.Line):
		p.untold = true // it may be there, and elsewhere
	default:
		p.addIf(t.Access == effects.Write, kind, name, t)
	}
}

// thing adds what holds of something else.
func (p *posts) thing(t effects.Thing) {
	a, writes := p.a, t.Access == effects.Write
	switch t.Kind {
	case "opaque", effects.Products, effects.Remote, effects.Job:
	case effects.Mode:
		if t.Glob || t.Tree {
			break
		}
		if perm, ok := permission(t.Value); ok {
			p.add(replay.Postcondition{Kind: replay.PostMode, Target: p.m.Path(t.Name), Hash: perm}, t)
		} else {
			p.untold = true
		}
	case effects.Package:
		if t.Access == effects.Remove {
			p.unknown = true
			break
		}
		manager, name, _ := strings.Cut(t.Name, " ")
		p.add(replay.Postcondition{Kind: replay.PostPackage, Target: name, Manager: manager}, t)
	case effects.Image:
		p.addIf(writes, replay.PostImage, p.m.Name(transform.Image, t.Name), t)
	case effects.Port:
		p.addIf(a.Background, replay.PostPort, p.m.Name(transform.Port, t.Name), t)
	case effects.Staged:
		p.addIf(writes && addsPlainly(a.Line) && !t.Glob && within(a.Cwd, t.Repo), replay.PostStaged, p.m.Path(t.Name), t)
	case effects.Settings:
		setting, ok := gitSetting(p.st.Command, a.Shell)
		p.addIf(ok && writes && t.Repo != "~" && within(a.Cwd, t.Repo), replay.PostSetting, setting, t)
	case effects.Commit:
		if p.moves(p.i, a, p.add) {
			p.head = true
			break
		}
		message, ok := commitMessage(a.Line)
		p.addIf(ok && !p.committedAlready(p.i, message), replay.PostCommit, message, effects.Thing{Kind: "message", Name: message})
	case effects.Repository:
		p.unknown = p.unknown || !writes
	case "stash": // the files that it takes away or puts back tell
		p.unknown = p.unknown || stashed(a.Line) == ""
	default:
		p.unknown = true
	}
}

// replacer returns the first kept act after i that changes or removes a thing which i wrote, -1 if none
// does.
func (b *builder) replacer(i int, t effects.Thing) int {
	if t.Kind == headOf {
		return b.moveAfter(i, t)
	}
	if b.writers == nil {
		b.writers = map[string][]int{}
		for j := range b.w.acts {
			for _, o := range b.w.acts[j].writes {
				if !b.s.kept[j] || o.thing.Kind == "opaque" || o.thing.Kind == effects.Directory && o.thing.Access != effects.Remove {
					continue
				}
				k := key(o.thing)
				b.writers[k] = append(b.writers[k], j)
				if o.thing.Access == effects.Remove {
					b.removers = append(b.removers, j)
				}
			}
		}
	}
	first := -1
	for _, j := range b.writers[key(t)] {
		if j > i {
			first = j
			break
		}
	}
	for _, j := range b.removers {
		if j <= i || first >= 0 && j >= first {
			continue
		}
		for _, o := range b.w.acts[j].writes {
			if o.thing.Access == effects.Remove && covers(o.thing, t) {
				return j
			}
		}
	}
	return first
}

// permission returns the argument of find -perm that checks a mode of chmod: 644 as it is, and u+x with a
// minus before it. ok is false for modes that take bits away, which find cannot check.
func permission(mode string) (string, bool) {
	if mode != "" && strings.Trim(mode, "01234567") == "" && len(mode) <= 4 {
		return mode, true
	}
	who, what, ok := strings.Cut(mode, "+")
	if !ok || strings.Trim(who, "ugoa") != "" || what == "" || strings.Trim(what, "rwx") != "" {
		return "", false
	}
	return "-" + cmp.Or(who, "u") + "+" + what, true
}

// certain reports whether an act certainly wrote a path: cp a b writes b, or b/a if b is a directory.
func (b *builder) certain(a *act, t effects.Thing) bool {
	for _, o := range a.writes {
		u := o.thing
		if u.Kind != effects.Path || u.Name == t.Name {
			continue
		}
		if path.Dir(u.Name) == t.Name && u.Sure == 0.5 && t.Sure == 0.9 {
			return !b.directoryBefore(a, t.Name)
		}
		if path.Dir(t.Name) == u.Name && t.Sure == 0.5 && u.Sure == 0.9 {
			return b.directoryBefore(a, u.Name)
		}
	}
	return true
}

// directoryBefore reports whether a path is known to be a directory when an act runs, and the act does not remove it.
func (b *builder) directoryBefore(a *act, name string) bool {
	is := false
	for _, o := range b.w.acts[:a.at+1] {
		is = is || o != a && within(o.Cwd, name)
		for _, t := range o.Things {
			switch {
			case !isPath(t) || t.Access == effects.Read || t.Sure <= 0.5 || t.Glob:
			case t.Access == effects.Remove:
				is = is && !within(name, t.Name)
			case o != a:
				is = is || t.Name == name && t.Kind == effects.Directory || path.Dir(t.Name) == name
			}
		}
	}
	return is
}

// commitMessage returns the first line of the message that a line commits with.
func commitMessage(l *shell.Line) (string, bool) {
	if l == nil {
		return "", false
	}
	for i := range l.Calls {
		c := &l.Calls[i]
		if c.Name != "git" || c.Sub() != "commit" {
			continue
		}
		after := shell.Call{Args: c.After()}
		for k, w := range after.Args {
			v := w.Value
			switch {
			case strings.HasPrefix(v, "--message="):
				return firstLine(v[10:]), !w.Dynamic
			case (v == "--message" || len(v) > 1 && v[0] == '-' && v[1] != '-' && strings.HasSuffix(v, "m")) && k+1 < len(after.Args):
				return firstLine(after.Args[k+1].Value), !after.Args[k+1].Dynamic
			}
		}
	}
	return "", false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
