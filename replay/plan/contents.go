package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/shell"
	"github.com/recountdb/recount/schemas"
)

// contents fills in the hashes that the files of each step had after its last run: the latest replay
// that changed the real directory or, if nothing about the step is mapped, the recorded run. A hash
// counts only if the command and its directory are the same, and those of every step it needs: with
// another value or path, the old content is not what this plan would make.
//
// For a step whose written files are unknown, the files that its replays wrote take their place; without
// a replay it gets no postcondition. contents returns what the last replays left of all files, see settle.
func (b *builder) contents(steps []replay.Step) (settled []replay.Postcondition) {
	last, satisfied := map[schemas.EventID][]*replays.Did{}, map[schemas.EventID]bool{}
	for i := range b.n.Replayed {
		if d := &b.n.Replayed[i]; d.Satisfied {
			satisfied[d.Intent] = true
		} else {
			last[d.Intent] = append(last[d.Intent], d)
		}
	}
	same := make([]bool, len(steps))
	did := make([][]*replays.Did, len(steps))
	for i, a := range b.w.acts {
		if !b.s.kept[i] {
			continue
		}
		k := b.index[i]
		st := &steps[k]
		for _, d := range last[st.Intent] {
			if d.Cwd == st.Cwd {
				did[k] = append(did[k], d)
			}
		}
		dids := did[k]
		if len(dids) > 0 {
			same[k] = dids[0].Command == st.Command
		} else {
			// What was so already where it was replayed is no other step for those that need it: they know where.
			same[k] = st.Command == a.Command && st.Cwd == a.Cwd || satisfied[st.Intent]
		}
		for _, n := range st.Needs {
			same[k] = same[k] && same[n.On]
		}
		if same[k] && len(dids) > 0 && dids[0].Within && dids[0].Whole && len(dids[0].Files) > 0 {
			// It could install into nothing but the directory, such as a virtual environment of which the
			// manager knows only if it is told: the files tell.
			st.Post = slices.DeleteFunc(st.Post, func(p replay.Postcondition) bool { return p.Kind == replay.PostPackage })
		}
		// A process in the background goes on writing, and files such as that of its process id have other
		// content each time.
		if !same[k] || st.Background || changes(a) {
			continue
		}
		for p := range st.Post {
			if post := &st.Post[p]; post.Kind == replay.PostFile {
				post.Hash = b.left(a, st, dids, post.Target)
			}
		}
		trees(st, dids)
	}
	for _, k := range b.wide {
		st := &steps[k]
		var more []replay.Postcondition
		ok := same[k] && !st.Background && len(did[k]) > 0
		if ok {
			more, ok = unnamed(st, did[k])
		}
		switch st.Post = append(st.Post, more...); {
		case ok && len(st.Post) == 0 && quiet(st, did[k]):
			st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostQuiet})
		case !ok || len(st.Post) == 0:
			st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostNone})
		}
	}
	touches(steps, did, b.moved)
	settled = b.settle(steps, same, did)
	swapped(steps)
	return settled
}

// trees corrects postconditions about a file that was a directory after the last replay, such as the copy
// of one: the directory has to exist, with the files that the replay left in it.
func trees(st *replay.Step, dids []*replays.Did) {
	all, ok := unnamed(st, dids)
	if !ok {
		return
	}
	for i := range st.Post {
		p := &st.Post[i]
		if p.Kind != replay.PostFile || p.Hash != "" {
			continue
		}
		in := slices.DeleteFunc(slices.Clone(all), func(f replay.Postcondition) bool { return !strings.HasPrefix(f.Target, p.Target+"/") })
		if len(in) > 0 {
			p.Kind, p.Updates = replay.PostDirectory, false
			st.Post = append(st.Post, in...)
		}
	}
}

// maxUnnamed is the largest number of files of a step that are checked although its command does not
// name them.
const maxUnnamed = 256

// unnamed returns postconditions for the files that replays of a step wrote and its command does not
// name. ok is false if they are too many, or if another step ran at the same time and may have written
// them.
func unnamed(st *replay.Step, dids []*replays.Did) (out []replay.Postcondition, ok bool) {
	seen := map[string]bool{}
	for _, p := range st.Post {
		seen[p.Target] = true
	}
	for _, d := range dids {
		if d.Command != st.Command {
			break
		}
		if !d.Alone {
			return nil, false
		}
		for _, f := range d.Files {
			if seen[f.Path] || strings.Contains(f.Path, "/.git/") || cached(f.Path) || !f.Removed && f.SHA256 == "" {
				continue // files below .git change with almost every command, and caches with any look
			}
			seen[f.Path] = true
			p := replay.Postcondition{Kind: replay.PostFile, Target: f.Path, Hash: f.SHA256}
			if f.Removed {
				p = replay.Postcondition{Kind: replay.PostAbsent, Target: f.Path}
			}
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b replay.Postcondition) int { return strings.Compare(a.Target, b.Target) })
	return out, len(out) <= maxUnnamed
}

// quiet reports whether a step that is no goal itself does nothing but print: none of its replays changed
// a file, and they could reach nothing else.
func quiet(st *replay.Step, dids []*replays.Did) bool {
	if len(st.Danger)+len(st.Sets) > 0 || asked(st) {
		return false
	}
	return !slices.ContainsFunc(dids, func(d *replays.Did) bool {
		return d.Command != st.Command || !d.Within || len(d.Files) > 0
	})
}

// changing has the variables of shells whose value differs each time.
var changing = map[string]bool{"!": true, "BASHPID": true, "PPID": true, "RANDOM": true, "SRANDOM": true, "SECONDS": true, "EPOCHSECONDS": true, "EPOCHREALTIME": true}

// shells are programs that run commands which they are told in a word.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "env": true, "xargs": true, "timeout": true, "setsid": true, "nohup": true}

// changes reports whether the content that an act writes may differ from run to run.
func changes(a *act) bool {
	if a.Line == nil {
		return strings.Contains(a.Command, "$$")
	}
	inner := slices.ContainsFunc(a.Line.Calls, func(c shell.Call) bool { // sh -c 'echo $$ > pid; exec prog'
		return shells[c.Name] && slices.ContainsFunc(c.Args, func(w shell.Word) bool { return strings.Contains(w.Value, "$$") })
	})
	return a.Line.Process && !processInNames(a.Line) || inner || slices.ContainsFunc(a.Line.Uses, func(v string) bool {
		return changing[v] && !(v == "!" && onlyAwaited(a.Line))
	})
}

// onlyAwaited reports whether a line names the last process only to wait for it or to end it.
func onlyAwaited(l *shell.Line) bool {
	left := strings.Count(l.Source, "$!")
	for _, c := range l.Calls {
		for _, w := range c.Args {
			if c.Name == "wait" || c.Name == "kill" || c.Name == "disown" {
				left -= strings.Count(w.Text, "$!")
			}
		}
	}
	return left == 0 && !strings.Contains(l.Source, "${!")
}

// processInNames reports whether the number of its shell's process is only in names of files in a line, such as those of
// temporary files: jq .a f > /tmp/f.$$ && mv /tmp/f.$$ f. What such a file has is the same each time.
func processInNames(l *shell.Line) bool {
	left := strings.Count(l.Source, "$$")
	take := func(w shell.Word, isName bool) {
		if at := strings.Index(w.Value, "$$"); at >= 0 && (isName || strings.Contains(w.Value[:at], "/")) {
			left -= strings.Count(w.Text, "$$")
		}
	}
	for _, rd := range l.Redirects {
		take(rd.Target, true)
	}
	for _, c := range l.Calls {
		for _, w := range c.Args {
			if c.Name != "echo" && c.Name != "printf" {
				take(w, c.Name == "mv" || c.Name == "rm" || c.Name == "cp")
			}
		}
	}
	return left == 0 && !strings.Contains(l.Source, "${$}")
}

// touches notes on each postcondition which later step wrote the same file in a replay. A file that no
// command names is dropped if that step's postconditions do not cover it. The absence of a directory
// covers all that was in it, and HEAD the files that git wrote.
func touches(steps []replay.Step, did [][]*replays.Did, moved map[int]bool) {
	all := map[string][]touch{}
	for k := range steps {
		mine := map[string]bool{}
		for _, d := range did[k] {
			for _, f := range d.Files {
				mine[f.Path] = moved[k] || slices.ContainsFunc(steps[k].Post, func(p replay.Postcondition) bool {
					return p.Kind == replay.PostAbsent && within(f.Path, p.Target)
				})
			}
		}
		for _, p := range steps[k].Post {
			if p.Kind == replay.PostFile || p.Kind == replay.PostAbsent || p.Kind == replay.PostDirectory {
				mine[p.Target] = true
			}
		}
		for name, tells := range mine {
			all[name] = append(all[name], touch{k, tells})
		}
	}
	made := slices.Sorted(maps.Keys(all))
	for k := range steps {
		st := &steps[k]
		madeAgain(st, all, made)
		st.Post = slices.DeleteFunc(st.Post, func(p replay.Postcondition) bool {
			later := after(all[p.Target], k)
			return later != nil && !later.tells && !slices.Contains(st.Outputs, p.Target) && (p.Kind == replay.PostFile || p.Kind == replay.PostAbsent)
		})
		if len(st.Post) == 0 {
			st.Post = append(st.Post, replay.Postcondition{Kind: replay.PostNone})
		}
		for i := range st.Post {
			p := &st.Post[i]
			if p.Kind != replay.PostFile && p.Kind != replay.PostAbsent {
				continue
			}
			later := after(all[p.Target], k)
			if later != nil && later.tells && (p.ReplacedBy == nil || later.step < *p.ReplacedBy) {
				p.ReplacedBy = &later.step
			}
		}
	}
}

// madeAgain notes, on the postconditions of a step that removes directories, which later step fills them
// again. made are the names of all touched files, sorted.
func madeAgain(st *replay.Step, all map[string][]touch, made []string) {
	for i := range st.Post {
		p := &st.Post[i]
		if p.Kind != replay.PostAbsent || p.ReplacedBy != nil {
			continue
		}
		from, _ := slices.BinarySearch(made, p.Target+"/")
		for _, name := range made[from:] {
			if !strings.HasPrefix(name, p.Target+"/") {
				break
			}
			if later := after(all[name], st.Index); later != nil && later.tells && (p.ReplacedBy == nil || later.step < *p.ReplacedBy) {
				p.ReplacedBy = &later.step
			}
		}
	}
}

// touch is a step that writes or removes a file. tells is set if one of its postconditions is about the
// file.
type touch struct {
	step  int
	tells bool
}

// after returns the first touch by a later step, nil if there is none.
func after(all []touch, step int) *touch {
	for i := range all {
		if all[i].step > step {
			return &all[i]
		}
	}
	return nil
}

// left returns the hash of a file after the last run of a step, "" if unknown.
func (b *builder) left(a *act, st *replay.Step, dids []*replays.Did, target string) string {
	for _, d := range dids {
		if d.Command != st.Command {
			return ""
		}
		for _, f := range d.Files {
			if f.Path == target {
				return f.SHA256
			}
		}
	}
	if st.Command == a.Command && st.Cwd == a.Cwd {
		return b.n.Files[st.Intent][target]
	}
	return ""
}
