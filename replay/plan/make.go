package plan

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/replay/transform"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/homedir"
)

// Make makes the plan of a narrative. It is a pure function: the order of the commands in the
// narrative does not matter. An error is a *query.RequestError or a *replay.CycleError.
func Make(n Narrative, r Request) (replay.Plan, error) {
	m, err := transform.Parse(r.Map, r.Home)
	if err != nil {
		return replay.Plan{}, err
	}
	asked := n // for what it displays, too
	if r.All {
		asked.Goals = nil
		for _, c := range n.Commands {
			if n.Earlier[c.ID] {
				continue
			}
			asked.Goals = append(asked.Goals, c.ID)
		}
	}
	w := join(asked)
	var goals []int
	for i, a := range w.acts {
		if slices.Contains(n.Goals, a.ID) {
			goals = append(goals, i)
		}
	}
	s := w.cut(goals, r.All)
	params, err := parameters(w, s, n.Runs, r.Set)
	if err != nil {
		return replay.Plan{}, err
	}
	for _, p := range params {
		if p.Given {
			m.Set(p.Value, p.Set)
		}
	}
	p := replay.Plan{Goal: n.Goal, Steps: []replay.Step{}, Left: []replay.Left{}, Missing: n.Missing, Watermark: n.Watermark}
	p.Goal.Intents = []schemas.EventID{}
	for _, i := range goals {
		p.Goal.Intents = append(p.Goal.Intents, w.acts[i].ID)
	}
	b := builder{w: w, s: s, m: m, n: n, index: map[int]int{}, vars: map[string]map[string]string{}, shells: map[string]*told{}}
	for i := range w.acts {
		if s.kept[i] {
			b.index[i] = len(b.index)
		} else if !n.Earlier[w.acts[i].ID] {
			p.Left = append(p.Left, s.left(i))
		}
	}
	b.trees()
	for i := range w.acts {
		if s.kept[i] {
			p.Steps = append(p.Steps, b.step(i))
		}
	}
	p.Settled = b.contents(p.Steps)
	b.order(p.Steps)
	if p.Steps, err = replay.Sort(p.Steps); err != nil {
		return replay.Plan{}, err
	}
	p.Workspace = b.workspace()
	p.Inputs = b.inputs()
	p.Missing = append(p.Missing, b.lacks()...)
	p.Mappings = m.Uses()
	place := map[schemas.EventID]int{}
	for _, st := range p.Steps {
		place[st.Intent] = st.Index
	}
	for _, param := range params {
		for k, i := range param.Steps {
			param.Steps[k] = place[w.acts[i].ID]
		}
		slices.Sort(param.Steps)
		p.Parameters = append(p.Parameters, param)
	}
	for k := range p.Inputs {
		p.Inputs[k].Step = place[w.acts[p.Inputs[k].Step].ID]
	}
	p.Environment = b.differences(p.Steps, r.Here)
	p.Ends = b.ends(p.Parameters)
	return p, p.Identify()
}

// join returns the world after all commands of a narrative, added in their order.
func join(n Narrative) *world {
	all := sorted(n.Commands)
	o := &observer{seen: alone(all, created(all, n.Seen)), beside: map[string]nearness{}, own: map[string]bool{}, all: all, remembers: remembered(n.Seen)}
	o.anew = o.madeAnew(n.home)
	w := o.join(all, n)
	if !o.learn(w) {
		return w
	}
	return o.join(all, n)
}

// home returns the home directory of who ran a command.
func (n *Narrative) home(c commands.Scanned) string {
	return cmp.Or(n.Home[c.ContextHash], homedir.Usual(c.User, c.Cwd))
}

// atOnce is the time in which nobody edits a text, whatever editor the shell had come to.
const atOnce = 2 * time.Second

func (o *observer) join(all []commands.Scanned, n Narrative) *world {
	w := newWorld()
	w.links, w.given = maps.Clone(o.links), maps.Clone(o.links)
	w.finds = slices.ContainsFunc(all, func(c commands.Scanned) bool { return findsLost.MatchString(c.Command) })
	for i, c := range all {
		a := &act{Scanned: c, at: len(w.acts), home: n.home(c), env: n.Env[c.ContextHash]}
		a.text = c.Command
		change, known := n.Changes[c.ID]
		if known {
			a.text, a.Shell = written(change, c.Cwd), "bash"
		}
		in := effects.Command{
			Text: a.text, Shell: a.Shell, Cwd: c.Cwd, Home: a.home, User: c.User, Content: w.text, Older: w.formerly,
			Vars: w.shell(c.Session).values, Functions: w.shell(c.Session).bodies, Setting: w.setting,
			Env: a.env, Quick: c.Duration != nil && time.Duration(*c.Duration) < atOnce,
		}
		for _, r := range c.Resources {
			in.Resources = append(in.Resources, effects.Resource{Kind: r.Kind, Name: r.Name, Read: strings.HasPrefix(r.Access, "read"), Write: strings.HasSuffix(r.Access, "write")})
		}
		a.Effects = effects.Of(in)
		if a.untold = n.Unwritten[c.ID]; known || a.untold != "" {
			w.changesFile(a, change, known)
		}
		if n.Apart[c.ID] {
			a.endsShell()
		}
		if slices.Contains(n.Goals, c.ID) {
			a.Things = append(a.Things, a.Shown...)
		}
		a.earlier = n.Earlier[c.ID]
		a.whole, a.Line = a.Line, withoutCd(a.Line, c.Cwd, a.home)
		a.outcome()
		w.throughLinks(a)
		o.leads(w, a)
		o.observe(w, a)
		w.writesOthers(a)
		if a.failed && w.movedHead(a) {
			a.failed = false // it committed, and failed in what came after
		}
		if a.failed && !a.idle && (conflicts[begins(a)] && !w.refused(a) && resolved(a.Scanned, begins(a), all[i+1:]) || inPart(a, all[i+1:])) {
			a.failed = false
		}
		if a.failed && a.setsAtOnce() || a.leavesFiles(all[i+1:]) {
			a.failed = false
		}
		w.add(a)
	}
	return w
}

// findsLost matches git fsck, which finds what was dropped.
var findsLost = regexp.MustCompile(`\bgit\b[^;&|\n]*\sfsck\b`)

// conflicts has the subcommands of git that exit with an error when they leave a conflict to resolve.
var conflicts = map[string]bool{"merge": true, "pull": true, "rebase": true, "cherry-pick": true, "revert": true, "am": true, "stash": true}

// gitSub returns the subcommand of git if a line is one call of it, otherwise "".
func gitSub(l *shell.Line) string {
	if c, _, ok := onlyGit(l); ok {
		return c.Sub()
	}
	return ""
}

// resolved reports whether the conflict that a command of git, of a subcommand, left was later resolved and not
// aborted. Where the same subcommand can begin again, there was none.
func resolved(c commands.Scanned, begun string, after []commands.Scanned) bool {
	for _, o := range after {
		if o.Cwd != c.Cwd && o.Workspace != c.Workspace {
			continue
		}
		l, err := shell.Read(o.Command, o.Shell, o.Cwd)
		if err != nil {
			continue
		}
		for i := range l.Calls {
			call := &l.Calls[i]
			if call.Name != "git" {
				continue
			}
			here := shell.Call{Args: call.After()}
			switch sub := call.Sub(); {
			case here.Flag("--abort", "--quit"), sub == "reset" && here.Flag("--hard", "--merge"), sub == "switch", sub == "checkout" && here.Flag("-f", "--force"):
				return false
			case (here.Flag("--continue", "--skip") || sub == "commit") && (o.ExitCode == nil || *o.ExitCode == 0 || conflicts[sub]):
				return true // a commit that fails is refused until what is in conflict was added
			case sub == begun && (sub == "merge" || sub == "pull") && c.GitHead != "" && o.GitHead == c.GitHead:
				// It moved nothing: git merge b || true, which was refused.
			case sub == begun && sub != "stash" && !here.Flag("--edit-todo", "--show-current-patch") && (o.ExitCode == nil || *o.ExitCode == 0):
				return false
			}
		}
	}
	return false
}

// willing has the programs that go on to the next operand when one fails.
var willing = map[string]bool{"rm": true, "rmdir": true, "mkdir": true, "cp": true, "mv": true, "touch": true, "chmod": true}

// lastNotFound reports whether an act is a list, A && B, all of which ran but its last program, which was not found.
func lastNotFound(a *act) bool {
	if a.Line == nil || *a.ExitCode != notFound || len(a.Line.Calls) < 2 || len(a.Line.File.Stmts) != 1 {
		return false
	}
	if list, ok := a.Line.File.Stmts[0].Cmd.(*syntax.BinaryCmd); !ok || list.Op != syntax.AndStmt {
		return false
	}
	last := len(a.Line.Calls) - 1
	return !slices.ContainsFunc(a.Line.Calls[:last], func(c shell.Call) bool { return effects.MayWrite(&c, a.home) }) && !effects.Knows(&a.Line.Calls[last])
}

// notFound is the exit code of a shell for a program that is not there.
const notFound = 127

// inPart reports whether an act failed but did a part of what it was to do: one of the willing with several
// operands, a list whose last program is not there, or a patch of which a later command names what it left of the hunks
// that did not fit.
func inPart(a *act, after []commands.Scanned) bool {
	if lastNotFound(a) {
		a.Opaque = nil
		return true
	}
	if a.Line == nil || len(a.Line.Calls) != 1 || *a.ExitCode != 1 {
		return false
	}
	switch call := &a.Line.Calls[0]; {
	case willing[call.Name]:
		least := 2
		if call.Name == "cp" || call.Name == "mv" || call.Name == "chmod" {
			least = 3 // the last is where to, or the first is the mode
		}
		return len(shell.Operands(call.Args, "-m --mode -t --target-directory")) >= least
	case call.Name == "patch":
		used := slices.ContainsFunc(after, func(o commands.Scanned) bool { return o.Cwd == a.Cwd && leftByPatch.MatchString(o.Command) })
		for _, t := range a.Things {
			if used && t.Kind == effects.Path && t.Access == effects.Update && !t.Tree {
				for _, end := range []string{".orig", ".rej"} {
					left := t
					left.Name, left.Access = t.Name+end, effects.Write
					a.Things = append(a.Things, left)
				}
			}
		}
		return used
	}
	return false
}

// setsAtOnce reports whether an act failed but set its variables all the same: read at the end of what it reads, a
// variable that is set to what a command printed, and those that statements of their own set: pid=$!; curl ….
func (a *act) setsAtOnce() bool {
	if a.Line == nil || len(a.Sets) == 0 || len(a.Line.Calls) == 0 {
		return false
	}
	last := &a.Line.Calls[len(a.Line.Calls)-1]
	if *a.ExitCode == 1 && last.Name == "read" && !last.Inner || !slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { return !c.Inner }) {
		return true
	}
	set := map[string]bool{}
	for _, s := range a.Line.File.Stmts {
		if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) == 0 {
			for _, v := range c.Assigns {
				set[v.Name.Value] = true
			}
		}
	}
	return !slices.ContainsFunc(a.Sets, func(name string) bool { return !set[name] })
}

// leavesFiles reports whether an act failed, but was seen to change files, which are what counts of it then. A
// command that is later repeated until it works does so again, and what a build leaves is made again.
func (a *act) leavesFiles(after []commands.Scanned) bool {
	if !a.failed {
		return false
	}
	if a.seen == nil {
		return !a.Built && !a.Checks && a.asked()
	}
	files, ok := a.seen.plainFiles()
	if _, _, git := onlyGit(a.Line); git && !ok {
		return false
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		f := a.seen.Files[name]
		return cached(name) || f.Was == f.Is && f.Is != "" || (a.Built || a.Checks) && !slices.ContainsFunc(a.Things, func(t effects.Thing) bool {
			return isPath(t) && t.Access != effects.Read && t.Name == name && !t.Tree && !t.Glob // of what stands before the builder
		})
	})
	if len(files) == 0 && (ok || !a.stages()) || slices.ContainsFunc(after, func(o commands.Scanned) bool {
		return o.Template == a.Template && o.Workspace == a.Workspace && (o.ExitCode == nil || *o.ExitCode == 0) && !slices.ContainsFunc(files, func(name string) bool {
			base := path.Base(name) // a command such as tool > before, of which tool > after is no repetition
			return strings.Contains(a.Command, base) && !strings.Contains(o.Command, base)
		})
	}) {
		return false
	}
	a.Things = slices.DeleteFunc(a.Things, func(t effects.Thing) bool {
		git := !ok && t.Kind != effects.Commit && t.Repo != ""
		return t.Access != effects.Read && !git && (t.Kind != effects.Path || !a.wrote(t.Name))
	})
	a.add(files, *a.seen)
	for _, dir := range a.Opaque {
		if !slices.Contains(a.Reads, dir) {
			a.Reads = append(a.Reads, dir)
		}
	}
	a.Opaque, a.Built, a.Checks, a.observed = nil, false, false, true
	return true
}

// stages reports whether an act stages something before another command of git: git add a && git commit, which a hook
// refused.
func (a *act) stages() bool {
	return a.Line != nil && len(a.Line.Calls) > 1 && a.Line.Calls[0].Name == "git" && (a.Line.Calls[0].Sub() == "add" || a.Line.Calls[0].Sub() == "rm" || a.Line.Calls[0].Sub() == "mv")
}

// asked reports whether an act failed, but asked a service for something that was seen to change files then.
func (a *act) asked() bool {
	if a.around == nil || !slices.ContainsFunc(a.Things, func(t effects.Thing) bool { return t.Kind == effects.Port && t.Access == effects.Update }) {
		return false
	}
	files, _ := a.around.plainFiles()
	return slices.ContainsFunc(files, func(name string) bool { return !cached(name) && path.Ext(name) != ".log" })
}

// leftByPatch matches the names of the files in which patch leaves hunks that did not fit.
var leftByPatch = regexp.MustCompile(`\.(rej|orig)\b`)

// answersNo has the programs whose exit code 1 means no rather than failure.
var answersNo = map[string]bool{"grep": true, "egrep": true, "fgrep": true, "rg": true, "diff": true, "cmp": true, "test": true, "[": true, "pgrep": true, "zgrep": true, "ag": true, "expr": true, "diff3": true, "sdiff": true, "colordiff": true}

// answers reports whether a call says no by its exit code 1.
func answers(c *shell.Call) bool {
	return answersNo[c.Name] || c.Name == "git" && c.Sub() == "diff" && c.Flag("--no-index", "--exit-code", "--quiet")
}

// outcome sets failed or ended by the exit code of an act.
func (a *act) outcome() {
	if a.ExitCode == nil || *a.ExitCode == 0 {
		return
	}
	switch code := *a.ExitCode; {
	case (code > 128 || code == 127) && a.Line != nil && killsAndWaits(a.Line), code != 130 && a.Line != nil && onlyWaits(a.Line):
		// The code is that of what it ended, or of what had ended by itself.
	case code == 130 || code == 131 || code == 137 || code == 143:
		a.ended = true
	case code == 1 && a.Line != nil && len(a.Line.Calls) > 0 && answers(&a.Line.Calls[len(a.Line.Calls)-1]):
	case a.Looks || a.Navigates:
	default:
		a.failed = true
	}
}

// killsAndWaits reports whether a line ends a process and then waits for it.
func killsAndWaits(l *shell.Line) bool {
	at := slices.IndexFunc(l.Calls, func(c shell.Call) bool { return c.Name == "kill" || c.Name == "pkill" })
	return at >= 0 && slices.ContainsFunc(l.Calls[at:], func(c shell.Call) bool { return c.Name == "wait" && !c.Inner })
}

// onlyWaits reports whether a line does nothing but wait for what runs in the background.
func onlyWaits(l *shell.Line) bool {
	return len(l.Calls) > 0 && !slices.ContainsFunc(l.Calls, func(c shell.Call) bool { return c.Name != "wait" || c.Inner })
}

// builder makes the steps of the kept acts.
type builder struct {
	w     *world
	s     *slice
	m     *transform.Map
	n     Narrative
	index map[int]int  // of acts among the steps
	tree  []string     // directories that steps may change as they like, after mapping
	wide  []int        // the steps that may write files whose names are unknown
	moved map[int]bool // the steps that move HEAD, whose postcondition covers the files that git wrote
	// vars are the variables whose values are known after the steps so far, by session.
	vars map[string]map[string]string
	// shells is what the steps so far have told the shells of their sessions.
	shells map[string]*told
	// For postconditions: the acts that write a thing, by key, and those that remove something.
	writers  map[string][]int
	removers []int
}

// trees finds the directories that belong to the narrative: the workspaces of its steps. A directory that is none, and
// lies in another, is a part of that.
func (b *builder) trees() {
	parts := map[string]bool{}
	for i := range b.w.acts {
		a := b.w.acts[i]
		if !b.s.kept[i] {
			continue
		}
		dir := cmp.Or(a.Workspace, a.Cwd)
		if !strings.HasPrefix(dir, "/") || dir == "/" || dir == a.home || strings.HasPrefix(a.home, dir+"/") {
			dir = a.Cwd
		}
		if dir == a.home || dir == "" || dir == "/" {
			continue
		}
		part := dir != a.Workspace
		if dir = b.m.Path(dir); !slices.Contains(b.tree, dir) {
			b.tree = append(b.tree, dir)
			parts[dir] = part
		}
		parts[dir] = parts[dir] && part
	}
	for _, o := range b.m.Uses() {
		if o.Kind == transform.Path && !slices.Contains(b.tree, o.To) {
			b.tree = append(b.tree, o.To)
		}
	}
	slices.Sort(b.tree)
	all := slices.Clone(b.tree)
	b.tree = slices.DeleteFunc(b.tree, func(dir string) bool {
		return parts[dir] && slices.ContainsFunc(all, func(o string) bool { return o != dir && within(dir, o) })
	})
}

// workspace returns the workspace that the steps have in common, after mapping.
func (b *builder) workspace() string {
	found := ""
	for i, a := range b.w.acts {
		if !b.s.kept[i] || a.Workspace == "" {
			continue
		}
		if dir := b.m.Path(a.Workspace); found == "" {
			found = dir
		} else if found != dir {
			return ""
		}
	}
	return found
}

// differences names how the recorded environment changes from step to step, and how it differs from
// the one that was given.
func (b *builder) differences(steps []replay.Step, here *Here) (out []replay.Difference) {
	byID := map[schemas.EventID]*act{}
	for i, a := range b.w.acts {
		if b.s.kept[i] {
			byID[a.ID] = a
		}
	}
	commits := false
	var before *act
	for _, st := range steps {
		a := byID[st.Intent]
		if before != nil && before.ContextHash != a.ContextHash {
			named := false
			add := func(field, x, y string) {
				named = true
				out = append(out, replay.Difference{Step: st.Index, With: "step", Field: field, A: x, B: y, Hashes: []string{before.ContextHash, a.ContextHash}})
			}
			for _, f := range []struct{ name, x, y string }{{"shell", before.Shell, a.Shell}, {"user", before.User, a.User}, {"host", before.Host, a.Host}} {
				if f.x != f.y {
					add(f.name, f.x, f.y)
				}
			}
			if before.GitHead != a.GitHead {
				if named = true; !commits {
					add("git_head", before.GitHead, a.GitHead)
				}
			}
			x, y := b.n.Env[before.ContextHash], b.n.Env[a.ContextHash]
			for _, name := range names(x, y) {
				if x[name] != y[name] {
					add("env "+name, x[name], y[name])
				}
			}
			if !named && before.Cwd == a.Cwd {
				add("context", "", "")
			}
		}
		before = a
		for _, o := range a.writes {
			commits = commits || o.thing.Kind == effects.Commit
		}
	}
	if here == nil || len(steps) == 0 {
		return out
	}
	seen := map[string]bool{}
	for _, st := range steps {
		a := byID[st.Intent]
		add := func(field, x, y string) {
			if x != y && x != "" && !seen[field+x] {
				seen[field+x] = true
				out = append(out, replay.Difference{Step: st.Index, With: "here", Field: field, A: x, B: y, Hashes: []string{a.ContextHash}})
			}
		}
		add("user", b.m.Name(transform.User, a.User), here.User)
		add("host", b.m.Name(transform.Host, a.Host), here.Host)
		add("shell", a.Shell, here.Shell)
		env := b.n.Env[a.ContextHash]
		for _, name := range names(env, nil) {
			add("env "+name, b.m.Text(env[name]), here.Env[name])
		}
	}
	return out
}

func names(a, b map[string]string) []string {
	all := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// isDirectory reports whether a path has something below it in the narrative, so that it is a
// directory.
func (b *builder) isDirectory(name string) bool {
	for _, a := range b.w.acts {
		if a.Cwd == name || strings.HasPrefix(a.Cwd, name+"/") {
			return true
		}
		for _, t := range a.Things {
			if t.Name == name && t.Kind == effects.Directory || isPath(t) && path.Dir(t.Name) == name && t.Sure > 0.5 {
				return true
			}
		}
	}
	return false
}
