package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	sorted "slices"
	"strings"

	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/run"
)

// executed replays each narrative with the executor as another user, in the sandbox, applies what it
// changed, and compares the trees. Then it replays at once again, which has to run nothing that a
// postcondition can tell.
func executed() error {
	n, same, steps, checkable, again, againAll, apart := 0, 0, 0, 0, 0, 0, 0
	alarms, told, silent := 0, 0, 0 // replays that said that they came to another end: falsely, rightly; and those that did not say so
	shells, idle, broken := 0, 0, 0 // of those that can't be checked; trees that the second replay left otherwise
	return each(func(r *recorded) error {
		n++
		b, err := r.elsewhere()
		if err != nil {
			return err
		}
		if b.before, err = treeOf(b.dir, b.home, r.home); err != nil {
			return err
		}
		first, err := b.replay()
		if err != nil {
			return err
		}
		var parted []string
		for _, o := range first.Steps {
			if o.Status != run.Done && o.Status != run.Skipped {
				parted = append(parted, fmt.Sprintf("step %d %s: %s: %s\n      %s", o.Step+1, oneLine(o.Command), o.Status, oneLine(o.Reason), oneLine(o.Output)))
			}
		}
		more, err := b.differences()
		if err != nil {
			return err
		}
		if len(more) > 0 {
			if err := b.leaveOut(); err != nil {
				return err
			}
			if more, err = b.differences(); err != nil {
				return err
			}
			apart += len(b.leftOut)
		}
		if parted = append(parted, more...); len(parted) == 0 {
			same++
			if b.told {
				alarms++
			}
		} else if b.told {
			told++
		} else if !sorted.ContainsFunc(first.Steps, func(o run.Outcome) bool { return !o.Status.Fine() }) {
			silent++
		}
		for _, p := range parted {
			fmt.Printf("  %s: %s\n", r.n.name, p)
		}
		p, err := b.plan()
		if err != nil {
			return err
		}
		second, err := b.replay()
		if err != nil {
			return err
		}
		if after, err := b.differences(); err != nil || len(parted) == 0 && len(after) > 0 {
			broken++
			fmt.Printf("  %s: the second replay left another tree: %v %v\n", r.n.name, after, err)
		}
		wrote := map[int]bool{}
		for _, o := range first.Steps {
			wrote[o.Step] = len(o.Files) > 0
		}
		ran := map[int]bool{}
		for _, o := range second.Steps {
			ran[o.Step] = o.Attempt > 0
		}
		for i := range p.Steps {
			steps++
			can := tells(&p.Steps[i])
			switch {
			case can:
				checkable++
			case len(p.Steps[i].Sets) > 0:
				shells++
			case !wrote[i]:
				idle++
			}
			if ran[i] {
				againAll++
			}
			if can && ran[i] {
				again++
			}
			if ran[i] && (can || *verbose) {
				fmt.Printf("  %s: ran again: %s %v\n", r.n.name, oneLine(p.Steps[i].Command), p.Steps[i].Post)
			}
		}
		return nil
	}, func() {
		fmt.Printf("%d of %d narratives end in the same tree by the executor in the sandbox\n", same, n)
		fmt.Printf("of the others %d said so and %d did not, though all steps were done; %d of the same said so falsely\n", told, silent, alarms)
		fmt.Printf("%d files were left out of the comparisons, since they differ without Recount too\n", apart)
		fmt.Printf("%d of %d steps have a postcondition that can be checked\n", checkable, steps)
		fmt.Printf("of the %d others %d change the state of their shell, and %d changed no file in the first replay\n", steps-checkable, shells, idle)
		fmt.Printf("the second replay left another tree in %d\n", broken)
		fmt.Printf("a second replay ran %d of those, and %d of all\n", again, againAll)
	})
}

// tells reports whether the postconditions of a step, or what its last replay left, say whether it has to run.
func tells(s *replay.Step) bool {
	if s.Settled {
		return true
	}
	for _, p := range s.Post {
		if p.Kind == "none" || p.Kind == replay.PostFile && p.Hash == "" {
			return false
		}
	}
	return len(s.Post) > 0 && len(s.Sets) == 0
}

// other is the place of another user, where a narrative is replayed.
type other struct {
	r              *recorded
	home, dir, old string // dir may be changed, and is what old was
	env            []string
	varies         map[string]bool   // what another user who types the narrative has otherwise
	leftOut        map[string]bool   // of those, what differed
	told           bool              // a replay that did all its steps said that its end is another one than was recorded
	before         map[string]string // the tree before the first replay
}

// elsewhere makes the other user's place. Where the narrative has to do with the home directory beside the
// project, all of it is the directory that may be changed, and the user's real home another one.
func (r *recorded) elsewhere() (*other, error) {
	home, env, err := place(r.n, r.root, "bob")
	if err != nil {
		return nil, err
	}
	secrets, err := r.secrets()
	if err != nil {
		return nil, err
	}
	b := &other{r: r, home: home, dir: filepath.Join(home, "project"), old: filepath.Join(r.home, "project"), env: append(env, secrets...)}
	beside, err := r.besideProject()
	if err != nil || !beside {
		return b, err
	}
	b.dir, b.old = home, r.home
	b.env = append(b.env, "HOME="+filepath.Join(r.root, "home", "carol"))
	return b, os.MkdirAll(filepath.Join(r.root, "home", "carol"), 0o755)
}

// besideProject reports whether a narrative has to do with the home directory beside its project: its steps name it, or
// something that tools do not keep there for themselves was there or was made.
func (r *recorded) besideProject() (bool, error) {
	for _, s := range r.n.steps {
		if strings.Contains(s.text, "HOME") || strings.Contains(s.text, "~/") {
			return true, nil
		}
	}
	entries, err := os.ReadDir(r.home)
	return sorted.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != "project" && e.Name() != "go" && !strings.HasPrefix(e.Name(), ".")
	}), err
}

// replay runs the narrative there, and returns how it came out.
func (b *other) replay(more ...string) (run.Report, error) {
	out, err := b.r.askAs(b.env, b.home, "", append(more, "--json", "--home", b.home, "--dir", b.dir, "--apply", "--yes", "--on-failure", "skip")...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return run.Report{}, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var e replaying.Event
		if decoded := dec.Decode(&e); decoded != nil {
			if errors.Is(decoded, io.EOF) {
				decoded = err
			}
			return run.Report{}, fmt.Errorf("the run has no end: %w", decoded)
		}
		if e.Event != replaying.EventDone {
			continue
		}
		for _, d := range e.Differs {
			fmt.Printf("  %s: not as recorded: %s\n", b.r.n.name, d)
		}
		if err = nil; replaying.Parts(e.Differs) {
			b.told = true
			_, err = call(b.env, "replay", "--resume", e.Run, "--apply", "--json")
		}
		return *e.Report, err
	}
}

// plan returns the plan of the next replay.
func (b *other) plan() (replay.Plan, error) { return b.r.planAs(b.env, b.home, "--home", b.home) }

// differences compares the trees. Of a narrative with a goal only what was made has to be the same: what is as it was
// before the first replay was not.
func (b *other) differences() ([]string, error) {
	want, err := treeOf(b.old, b.r.home, "")
	if err != nil {
		return nil, err
	}
	got, err := treeOf(b.dir, b.home, b.r.home)
	if err != nil {
		return nil, err
	}
	var all []string
	add := func(name, text string) {
		if b.r.n.goal != "" && got[name] == b.before[name] {
			return
		}
		if b.varies[name] {
			b.leftOut[name] = true
		} else {
			all = append(all, name+text)
		}
	}
	for _, name := range sorted.Sorted(maps.Keys(want)) {
		if sum := want[name]; got[name] != sum && (b.r.n.goal == "" || got[name] != "") {
			add(name, fmt.Sprintf(" is %s, and was %s", or(got[name]), sum))
		}
	}
	for _, name := range sorted.Sorted(maps.Keys(got)) {
		if want[name] == "" {
			add(name, " is there, and was not")
		}
	}
	return all, nil
}

// leaveOut types the narrative once more, plainly, without Recount, as the user for whom it was replayed and in the
// same home, and leaves out of the comparison the files that are otherwise then than where it was recorded: that
// they are otherwise after a replay says nothing. It prints which of them differ.
func (b *other) leaveOut() error {
	aside := b.home + "-replayed"
	if err := os.Rename(b.home, aside); err != nil {
		return err
	}
	home, env, err := place(b.r.n, b.r.root, filepath.Base(b.home))
	if err != nil {
		return err
	}
	b.r.n.typed(home, env, "PROMPT_COMMAND=('sleep 0.07')\n")
	control, err := treeOf(filepath.Join(home, strings.TrimPrefix(b.dir, b.home)), home, b.r.home)
	if err == nil {
		err = os.RemoveAll(home)
	}
	if err == nil {
		err = os.Rename(aside, b.home)
	}
	if err != nil {
		return err
	}
	want, err := treeOf(b.old, b.r.home, "")
	if err != nil {
		return err
	}
	b.varies, b.leftOut = map[string]bool{}, map[string]bool{}
	for name := range want {
		b.varies[name] = control[name] != want[name]
	}
	for name := range control {
		b.varies[name] = control[name] != want[name]
	}
	onlyVarying(b.varies, want)
	if _, err := b.differences(); err != nil {
		return err
	}
	fmt.Printf("  %s: %d files differ without Recount too, and are left out\n", b.r.n.name, len(b.leftOut))
	const few = 20
	places := map[string]int{}
	for name := range b.leftOut {
		if parts := strings.Split(name, "/"); len(b.leftOut) > few && len(parts) > 2 && !*verbose {
			name = strings.Join(parts[:2], "/") + "/…"
		}
		places[name]++
	}
	for _, name := range sorted.Sorted(maps.Keys(places)) {
		fmt.Printf("      %s (%d)\n", name, places[name])
	}
	return nil
}

// onlyVarying adds the directories in which all files vary, if there are any: whoever lacks those files may lack the
// directory.
func onlyVarying(varies map[string]bool, tree map[string]string) {
	files, same := map[string]bool{}, map[string]bool{}
	for name, vary := range varies {
		if tree[name] == "directory" {
			continue
		}
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			files[dir] = true
			same[dir] = same[dir] || !vary
		}
	}
	for name, sum := range tree {
		if sum == "directory" && files[name] && !same[name] {
			varies[name] = true
		}
	}
}
