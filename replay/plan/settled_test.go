package plan

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
)

// TestSettled checks which steps are done if all files are as the last replays left them, and which files
// those are.
func TestSettled(t *testing.T) {
	const dir = "/home/ann/app"
	lines := []string{"cat > loop.sh <<'E'\necho\nE", "while ./loop.sh >> out.log; do :; done", "rm .count", "git commit -am 'Fix'", "./server & echo $! > pid"}
	file := func(name, sum string) replays.File { return replays.File{Path: dir + "/" + name, SHA256: sum} }
	gone := func(name string) replays.File { return replays.File{Path: dir + "/" + name, Removed: true} }
	all := func(change func(d []replays.Did)) []replays.Did {
		var out []replays.Did
		for i, files := range [][]replays.File{
			{file("loop.sh", "1")},
			{file(".count", "2"), file("out.log", "3")},
			{gone(".count")},
			{file(".git/refs/heads/main", "4"), file(".git/index", "5"), file(".git/objects/ab/cd", "6"), {Path: dir + "/.git/refs"}},
			{file("pid", "7"), file("out.log", "8")},
		} {
			out = append(out, replays.Did{Intent: id(i), Run: "r", Command: lines[i], Cwd: dir, Alone: true, Whole: true, Within: true, Files: files})
		}
		change(out)
		return out
	}
	settled := func(replayed []replays.Did, r Request) (steps, files string) {
		n := narrative(lines...)
		n.Replayed = replayed
		p := made(t, n, r)
		for i := range p.Steps {
			if p.Steps[i].Settled {
				steps += p.Steps[i].Command[:2] + " "
			}
		}
		for _, f := range p.Settled {
			files += f.Kind + " " + f.Target[len(dir)+1:] + " " + f.Hash + "; "
		}
		return steps, files
	}
	for name, c := range map[string]struct {
		change func(d []replays.Did)
		want   string
	}{
		"as it was":             {func([]replays.Did) {}, "ca wh rm gi ./ "},
		"another command":       {func(d []replays.Did) { d[1].Command = "true" }, "ca rm "}, // the commit rests on the loop
		"it could reach others": {func(d []replays.Did) { d[3].Within = false }, "ca wh rm ./ "},
		"files are missing":     {func(d []replays.Did) { d[3].Whole = false }, "ca wh rm ./ "},
	} {
		if steps, _ := settled(all(c.change), Request{All: true}); steps != c.want {
			t.Errorf("%s: settled are %q, want %q", name, steps, c.want)
		}
	}
	if steps, files := settled(nil, Request{All: true}); steps+files != "" {
		t.Errorf("never replayed: %q, %q", steps, files)
	}
	// What the server wrote goes on changing, so it only has to be there; git's index changes with each look at it.
	want := "absent .count ; file .git/refs ; file .git/refs/heads/main 4; file loop.sh 1; file out.log ; file pid ; "
	if _, files := settled(all(func([]replays.Did) {}), Request{All: true}); files != want {
		t.Errorf("files are %q, want %q", files, want)
	}
	// A later run replaced a file.
	later := replays.Did{Intent: id(0), Run: "r2", Command: lines[0], Cwd: dir, Alone: true, Whole: true, Within: true, Files: []replays.File{file("loop.sh", "9")}}
	want = "absent .count ; file .git/refs ; file .git/refs/heads/main 4; file loop.sh 9; file out.log ; file pid ; "
	if _, files := settled(append([]replays.Did{later}, all(func([]replays.Did) {})...), Request{All: true}); files != want {
		t.Errorf("after another run files are %q, want %q", files, want)
	}
}

// TestServicesThatEndAreSettled has a service that a later step ends: what it wrote has to be there, with
// whatever content.
func TestServicesThatEndAreSettled(t *testing.T) {
	const dir = "/home/ann/app"
	lines := []string{"python3 -m http.server 8000 > log 2>&1 &", "echo $! > pid", "curl -s http://127.0.0.1:8000/ > page", "kill $(cat pid)"}
	for end, want := range map[int]bool{4: true, 3: false} {
		n := narrative(lines[:end]...)
		for i, f := range [][]replays.File{{{Path: dir + "/log", SHA256: "1"}}, {{Path: dir + "/pid", SHA256: "2"}}, {{Path: dir + "/page", SHA256: "3"}}, nil}[:end] {
			n.Replayed = append(n.Replayed, replays.Did{Intent: id(i), Run: "r", Command: lines[i], Cwd: dir, Alone: true, Whole: true, Within: true, Files: f})
		}
		p := made(t, n, Request{All: true})
		listed := slices.ContainsFunc(p.Settled, func(p replay.Postcondition) bool { return p.Target == dir+"/log" && p.Hash == "" })
		if p.Steps[0].Settled != want || listed != want {
			t.Errorf("%d steps: the service is settled: %v, its log is listed: %v, want %v", end, p.Steps[0].Settled, listed, want)
		}
	}
}

// TestJobsThatEndAreSettled has a job that ends by itself, or with its sandbox: what it wrote has to be there. One that
// answers at a port and was asked for may be wanted for that.
func TestJobsThatEndAreSettled(t *testing.T) {
	const dir = "/home/ann/app"
	for _, c := range []struct {
		line      string
		all, want bool
	}{
		{"nohup ./report >> log 2>&1 & disown", true, true},
		{"python3 -m http.server 8000 > log &", true, false},
		{"python3 -m http.server 8000 > log &", false, true},
	} {
		line, want := c.line, c.want
		n := narrative(line)
		n.Replayed = []replays.Did{{Intent: id(0), Run: "r", Command: line, Cwd: dir, Alone: true, Whole: true, Within: true, Files: []replays.File{{Path: dir + "/log", SHA256: "1"}}}}
		if p := made(t, n, Request{All: c.all}); p.Steps[0].Settled != want || (len(p.Settled) > 0) != want {
			t.Errorf("%s: settled: %v, with %v; want %v", line, p.Steps[0].Settled, p.Settled, want)
		}
	}
}

// TestStepsAfterOneThatWasSo has a replay elsewhere whose first step was so already: the one that needs it is
// settled all the same.
func TestStepsAfterOneThatWasSo(t *testing.T) {
	lines := []string{"git add f", "git commit -m one"}
	for so, want := range map[bool]bool{true: true, false: false} {
		n := narrative(lines...)
		n.Replayed = []replays.Did{{Intent: id(1), Run: "r", Command: lines[1], Cwd: "/home/bob/app", Whole: true, Within: true, Files: []replays.File{{Path: "/home/bob/app/.git/refs/heads/main", SHA256: "1"}}}}
		if so {
			n.Replayed = append(n.Replayed, replays.Did{Intent: id(0), Run: "r", Satisfied: true})
		}
		if p := made(t, n, Request{All: true, Map: []string{"/home/ann=/home/bob"}}); p.Steps[1].Settled != want {
			t.Errorf("the first step was so already: %v: the second is settled: %v", so, p.Steps[1].Settled)
		}
	}
}

// TestAPlanTellsWhatWasLeft checks that the id of a plan is over what the last replays left.
func TestAPlanTellsWhatWasLeft(t *testing.T) {
	n := narrative("./a")
	n.Replayed = []replays.Did{{Intent: id(0), Run: "r", Command: "./a", Cwd: "/home/ann/app", Whole: true, Within: true, Files: []replays.File{{Path: "/home/ann/app/x", SHA256: "1"}}}}
	p := made(t, n, Request{})
	p.Settled[0].Kind = replay.PostAbsent
	if err := p.Check(); err == nil {
		t.Error("a plan was changed, and nobody noticed")
	}
}

// TestKillIsQuiet has a step that ends a service: its variable is another one each time, but it writes nothing.
func TestKillIsQuiet(t *testing.T) {
	const dir = "/home/ann/app"
	lines := []string{"./serve 8000 > log 2>&1 &", "curl -s -d x http://127.0.0.1:8000/ > page", "kill $!", "echo $! > pid"}
	n := narrative(lines...)
	for i, f := range [][]replays.File{{{Path: dir + "/log", SHA256: "1"}}, {{Path: dir + "/page", SHA256: "2"}}, nil, {{Path: dir + "/pid", SHA256: "3"}}} {
		n.Replayed = append(n.Replayed, replays.Did{Intent: id(i), Run: "r", Command: lines[i], Cwd: dir, Alone: true, Whole: true, Within: true, Files: f})
	}
	p := made(t, n, Request{})
	for i, want := range []bool{true, true, false, false} {
		if p.Steps[i].Settled != want {
			t.Errorf("%s: settled: %v, want %v", lines[i], p.Steps[i].Settled, want)
		}
	}
	if post := p.Steps[2].Post; len(post) != 1 || post[0].Kind != replay.PostQuiet {
		t.Errorf("kill: %v, want that it need not run unless what it ends does", post)
	}
}

// TestPackagesInTheDirectory has packages that were installed into the directory: their files tell, since the
// manager outside does not know of them.
func TestPackagesInTheDirectory(t *testing.T) {
	const dir = "/home/ann/app"
	for _, line := range []string{"pip install --target lib tally", "pip --python .venv install tally", ".venv/bin/pip install tally==1.1", "python3 -m pip install --upgrade tally"} {
		for within, want := range map[bool]int{true: 0, false: 1} {
			n := narrative(line)
			n.Replayed = []replays.Did{{Intent: id(0), Run: "r", Command: line, Cwd: dir, Alone: true, Whole: true, Within: within, Files: []replays.File{{Path: dir + "/lib/tally.py", SHA256: "1"}}}}
			packages := 0
			for _, post := range made(t, n, Request{}).Steps[0].Post {
				if post.Kind == replay.PostPackage {
					packages++
				}
			}
			if packages != want {
				t.Errorf("%s, within the directory: %v: %d postconditions about packages, want %d", line, within, packages, want)
			}
		}
	}
}

// TestNumbersOfProcesses tells lines that use the number of a process from those that only have such a text.
func TestNumbersOfProcesses(t *testing.T) {
	for line, want := range map[string]bool{
		"echo $$ > pid": true, "echo \"${$}\" > pid": true, "sh -c 'echo $$ > pid'": true, "f() { echo $$; }": true, "cat > f <<E\n$$\nE": true,
		"printf 'a:\n\techo $$x\n' > Makefile": false, "cat > f <<'E'\n$$\nE": false,
		"jq .a f > /tmp/f.$$ && mv /tmp/f.$$ f": false, "sort f > f.$$ && mv f.$$ f": false, "echo /tmp/f.$$ > f": true, "./gen --seed $$ > f": true, "cp f f.$$; echo $$ > pid": true, "echo $RANDOM > r": true, "echo '$RANDOM' > r": false,
		"wait $!": false, "kill -TERM $!; wait $! 2> err": false, "wait $!; echo $! > pid": true, "kill ${!}": true,
	} {
		w := join(narrative(line))
		if got := changes(w.acts[0]); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}

// TestCachesProveNothing has a step that also changed what its toolchain counts: that changes with any look.
func TestCachesProveNothing(t *testing.T) {
	const dir = "/home/ann/app"
	n := narrative("go generate ./...")
	n.Replayed = []replays.Did{{Intent: id(0), Run: "r", Command: "go generate ./...", Cwd: dir, Alone: true, Whole: true, Within: true, Files: []replays.File{
		{Path: dir + "/x.go", SHA256: "1"}, {Path: dir + "/.config/go/telemetry/local/go.count", SHA256: "2"}, {Path: dir + "/__pycache__/a.pyc", SHA256: "3"},
	}}}
	p := made(t, n, Request{})
	for _, all := range [][]replay.Postcondition{p.Settled, p.Steps[0].Post} {
		if len(all) != 1 || all[0].Target != dir+"/x.go" {
			t.Errorf("told by %v", all)
		}
	}
}
