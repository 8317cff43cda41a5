package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// narrative returns commands that ran one after the other in one session and directory.
func narrative(lines ...string) Narrative {
	zero := int32(0)
	n := Narrative{Goal: replay.Goal{Kind: "session", What: "s"}}
	for i, text := range lines {
		n.Commands = append(n.Commands, commands.Scanned{Intent: commands.Intent{
			ID: id(i), Position: schemas.Position{Topic: "recount.commands", Offset: int64(i)}, Time: time.Unix(1767225600+int64(i), 0).UTC(),
			Command: text, Cwd: "/home/ann/app", Workspace: "/home/ann/app", Session: "s", User: "ann", Shell: "bash", ExitCode: &zero, Template: text,
		}})
	}
	return n
}

func id(i int) schemas.EventID { return schemas.NewCanon("test/plan").Int(int64(i)).ID() }

func made(t *testing.T, n Narrative, r Request) replay.Plan {
	t.Helper()
	p, err := Make(n, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

func hashes(p replay.Plan) string {
	out := ""
	for _, s := range p.Steps {
		for _, post := range s.Post {
			if post.Kind == replay.PostFile {
				out += fmt.Sprintf("%d:%s ", s.Index, post.Hash)
			}
		}
	}
	return out
}

func TestRecordedContents(t *testing.T) {
	const dir = "/home/ann/app"
	did := func(i int, command, cwd, path, sum string) replays.Did {
		return replays.Did{Intent: id(i), Command: command, Cwd: cwd, Alone: true, Files: []replays.File{{Path: path, SHA256: sum}}}
	}
	first, second := "echo a > x", "sort x > y"
	recorded := map[schemas.EventID]map[string]string{id(0): {dir + "/x": "r0"}, id(1): {dir + "/y": "r1"}}
	for _, c := range []struct {
		name     string
		lines    []string
		files    map[schemas.EventID]map[string]string
		replayed []replays.Did
		r        Request
		want     string
	}{
		{"what was recorded counts in the same place", []string{first, second}, recorded, nil, Request{}, "0:r0 1:r1 "},
		{"nothing is known without it", []string{first, second}, nil, nil, Request{}, "0: 1: "},
		{"in another place it does not count", []string{first, second}, recorded, nil, Request{Map: []string{dir + "=/srv/app"}}, "0: 1: "},
		{
			"there a replay does",
			[]string{first, second},
			recorded,
			[]replays.Did{did(0, first, "/srv/app", "/srv/app/x", "m0"), did(1, second, "/srv/app", "/srv/app/y", "m1")},
			Request{Map: []string{dir + "=/srv/app"}},
			"0:m0 1:m1 ",
		},
		{
			"the latest replay counts",
			[]string{first, second},
			recorded,
			[]replays.Did{did(0, first, dir, dir+"/x", "new"), did(0, first, dir, dir+"/x", "old")},
			Request{},
			"0:new 1:r1 ",
		},
		{
			"a replay of another command there makes it unknown, and what rests on it",
			[]string{first, second},
			recorded,
			[]replays.Did{did(0, "echo b > x", dir, dir+"/x", "b0"), did(1, second, dir, dir+"/y", "b1"), did(0, first, dir, dir+"/x", "old")},
			Request{},
			"0: 1: ",
		},
		{
			"a step with another value, and what rests on it",
			[]string{"head --lines=1 z > x", second},
			recorded, nil,
			Request{Set: map[string]string{"LINES": "2"}},
			"0: 1: ",
		},
		{"a job goes on writing", []string{"sleep 9 > x &"}, recorded, nil, Request{All: true}, "0: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := narrative(c.lines...)
			n.Files, n.Replayed = c.files, c.replayed
			if got := hashes(made(t, n, c.r)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestUnknownWritesAreCheckedByReplays has a step whose program is not known: without a replay it always
// runs, with one it is checked by all that the replay wrote.
func TestUnknownWritesAreCheckedByReplays(t *testing.T) {
	const dir = "/home/ann/app"
	file := func(name, sum string) replays.File { return replays.File{Path: dir + "/" + name, SHA256: sum} }
	build := replays.Did{Intent: id(0), Command: "./build", Cwd: dir, Alone: true, Files: []replays.File{
		file("a.o", "1"), file("out", "2"), {Path: dir + "/tmp", Removed: true}, file(".git/index", "3"), {Path: dir + "/obj"},
	}}
	pack := replays.Did{Intent: id(1), Command: "./pack", Cwd: dir, Alone: true, Files: []replays.File{file("out", "4")}}
	shared := build
	shared.Alone = false
	less := replays.Did{Intent: id(0), Command: "./build", Cwd: dir, Alone: true, Files: []replays.File{file("a.o", "5")}}
	for _, c := range []struct {
		name     string
		replayed []replays.Did
		want     string
	}{
		{"never replayed", nil, "0 none, 1 none"},
		{"replayed", []replays.Did{build, pack}, "0 file a.o 1, 0 file out 2 by 1, 0 absent tmp, 1 file out 4"},
		{"an earlier replay wrote more", []replays.Did{less, build, pack}, "0 file a.o 5, 0 file out 2 by 1, 0 absent tmp, 1 file out 4"},
		{"beside other steps", []replays.Did{shared, pack}, "0 none, 1 file out 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := narrative("./build", "./pack")
			n.Replayed = c.replayed
			var got []string
			for _, s := range made(t, n, Request{All: true}).Steps {
				for _, p := range s.Post {
					text := fmt.Sprintf("%d %s %s %s", s.Index, p.Kind, strings.TrimPrefix(p.Target, dir+"/"), p.Hash)
					if p.ReplacedBy != nil {
						text += fmt.Sprintf(" by %d", *p.ReplacedBy)
					}
					got = append(got, strings.TrimSpace(text))
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// TestLaterStepsTellOfWhatTheyReplaced has steps that replace files which their commands do not name.
func TestLaterStepsTellOfWhatTheyReplaced(t *testing.T) {
	const dir = "/home/ann/app"
	did := func(i int, command string, files ...replays.File) replays.Did {
		return replays.Did{Intent: id(i), Command: command, Cwd: dir, Alone: true, Files: files}
	}
	file := func(name, sum string) replays.File { return replays.File{Path: dir + "/" + name, SHA256: sum} }
	for name, c := range map[string]struct {
		lines    []string
		replayed []replays.Did
		want     string
	}{
		"a directory with all in it": {
			[]string{"./build", "cp obj/a a", "rm -rf obj"},
			[]replays.Did{did(0, "./build", file("obj/a", "1")), did(1, "cp obj/a a", file("a", "1")), did(2, "rm -rf obj", replays.File{Path: dir + "/obj/a", Removed: true})},
			"0 file obj/a by 2",
		},
		"git": {
			[]string{"echo bad >> a", "git commit -qam bad", "git revert --no-edit HEAD"},
			[]replays.Did{did(0, "echo bad >> a", file("a", "1")), did(2, "git revert --no-edit HEAD", file("a", "0"))},
			"0 file a by 2",
		},
		"a stash": {
			[]string{"echo half >> a", "git stash", "git stash pop", "echo all > a"},
			[]replays.Did{did(0, "echo half >> a", file("a", "1")), did(1, "git stash", file("a", "0")), did(2, "git stash pop", file("a", "1")), did(3, "echo all > a", file("a", "2"))},
			"0 file a by 1, 1 file a by 2, 2 file a by 3, 3 file a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := narrative(c.lines...)
			n.Replayed = c.replayed
			var got []string
			for _, s := range made(t, n, Request{All: true}).Steps {
				for _, p := range s.Post {
					text := fmt.Sprintf("%d %s %s", s.Index, p.Kind, strings.TrimPrefix(p.Target, dir+"/"))
					if p.ReplacedBy != nil {
						text += fmt.Sprintf(" by %d", *p.ReplacedBy)
					}
					got = append(got, text)
				}
			}
			if all := strings.Join(got, ", "); !strings.Contains(all, c.want) {
				t.Errorf("got %q, want %q in it", all, c.want)
			}
		})
	}
}

// TestUnknownNamesProveNothing checks that the directory that a loop writes into does not stand for
// the files: it was made before.
func TestUnknownNamesProveNothing(t *testing.T) {
	p := made(t, narrative("mkdir in", "for n in $LIST; do echo $n > in/$n.txt; done", "for n in $LIST; do rm in/$n.txt; done"), Request{All: true})
	for _, s := range p.Steps[1:] {
		if len(s.Post) != 1 || s.Post[0].Kind != replay.PostNone {
			t.Errorf("%s: %+v", s.Command, s.Post)
		}
	}
}

// TestQuietSteps checks which steps need not run again although nothing that they leave can be looked at.
func TestQuietSteps(t *testing.T) {
	const dir = "/home/ann/app"
	did := func(change func(*replays.Did)) []replays.Did {
		d := replays.Did{Intent: id(1), Command: "./check", Cwd: dir, Alone: true, Within: true}
		change(&d)
		return []replays.Did{d}
	}
	for name, c := range map[string]struct {
		replayed []replays.Did
		want     string
	}{
		"it only printed":            {did(func(*replays.Did) {}), replay.PostQuiet},
		"never replayed":             {nil, replay.PostNone},
		"it wrote a file":            {did(func(d *replays.Did) { d.Files = []replays.File{{Path: dir + "/x", SHA256: "1"}} }), replay.PostFile},
		"another step was under way": {did(func(d *replays.Did) { d.Alone = false }), replay.PostNone},
		"it could reach others":      {did(func(d *replays.Did) { d.Within = false }), replay.PostNone},
		"it was another command":     {did(func(d *replays.Did) { d.Command = "./check -v" }), replay.PostNone},
	} {
		n := narrative("./make-it", "./check", "cp a b")
		n.Replayed = c.replayed
		p := made(t, n, Request{})
		if got := p.Steps[1].Post[0].Kind; p.Steps[1].Command != "./check" || got != c.want {
			t.Errorf("%s: %q has %q, want %q", name, p.Steps[1].Command, got, c.want)
		}
	}
	n := narrative("./make-it", "./check", "cp a b")
	n.Replayed = did(func(*replays.Did) {})
	if got := made(t, n, Request{All: true}).Steps[1].Post[0].Kind; got != replay.PostNone {
		t.Errorf("asked for: %q", got)
	}
}

// TestNumbersOfProcessesProveNothing checks that a file with the number of a process tells of nothing.
func TestNumbersOfProcessesProveNothing(t *testing.T) {
	n := narrative("echo $$ > pid", "cp pid b")
	n.Replayed = []replays.Did{{Intent: id(0), Command: "echo $$ > pid", Cwd: "/home/ann/app", Alone: true, Files: []replays.File{{Path: "/home/ann/app/pid", SHA256: "1"}}}}
	for _, p := range made(t, n, Request{}).Steps[0].Post {
		if p.Hash != "" {
			t.Errorf("%+v", p)
		}
	}
}

// TestACopiedTreeIsCheckedByItsFiles has a copy of a directory, which run again would copy into itself.
func TestACopiedTreeIsCheckedByItsFiles(t *testing.T) {
	n := narrative("cp -r lib copy")
	n.Replayed = []replays.Did{
		{Intent: id(0), Command: "cp -r lib copy", Cwd: "/home/ann/app", Alone: true, Files: []replays.File{{Path: "/home/ann/app/copy/a", SHA256: "a0"}, {Path: "/home/ann/app/copy/b", SHA256: "b0"}}},
	}
	p := made(t, n, Request{})
	var got []string
	for _, post := range p.Steps[0].Post {
		got = append(got, fmt.Sprintf("%s %s %s", post.Kind, post.Target, post.Hash))
	}
	want := "directory /home/ann/app/copy , file /home/ann/app/copy/a a0, file /home/ann/app/copy/b b0"
	if all := strings.Join(got, ", "); all != want {
		t.Errorf("%s, want %s", all, want)
	}
}
