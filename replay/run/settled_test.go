package run

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// TestSettledSteps has a loop whose state is removed afterwards: nothing that it leaves shows that it need
// not run, but that all files are as the last replay left them.
func TestSettledSteps(t *testing.T) {
	for _, isolation := range []sandbox.Isolation{sandbox.IsolationNone, sandbox.IsolationSandbox} {
		w := newWorld(t)
		log, state := filepath.Join(w.dir, "log"), filepath.Join(w.dir, "state")
		steps := func(settled ...replay.Postcondition) *replay.Plan {
			s := commands("echo 1 > state", "cat state >> log", "rm state")
			for i := range s {
				s[i].Settled = true
				s[i].Post = []replay.Postcondition{{Kind: replay.PostNone}}
			}
			p := w.plan(s, [2]int{1, 0}, [2]int{2, 0})
			p.Settled = settled
			if err := p.Identify(); err != nil {
				t.Fatal(err)
			}
			return p
		}
		left := []replay.Postcondition{{Kind: replay.PostFile, Target: log, Hash: sum("1\n")}, {Kind: replay.PostFile, Target: w.dir}, {Kind: replay.PostAbsent, Target: state}}
		if err := os.WriteFile(log, []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		w.o.Executor = w.open(isolation)
		if r := w.run(steps(left...)); statuses(r) != "skipped skipped skipped" || r.Steps[0].Checks[0] != settledText {
			t.Errorf("%s, as it was left: %s %+v", isolation, statuses(r), r.Steps)
		}
		for name, change := range map[string]func() error{
			"another content": func() error { return os.WriteFile(log, []byte("2\n"), 0o644) },
			"a file again":    func() error { return os.WriteFile(state, nil, 0o644) },
			"no file":         func() error { return os.Remove(log) },
		} {
			_ = os.Remove(state)
			if err := os.WriteFile(log, []byte("1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			w.j = &memory{}
			w.o.Journal, w.o.Executor = w.j, w.open(isolation)
			if r := w.run(steps(left...)); statuses(r) != "done done done" {
				t.Errorf("%s, %s: %s", isolation, name, statuses(r))
			}
		}
	}
}

// TestSettledStepsRunWithWhatTheyNeed checks that a step is not done if one that it needs had to run, nor
// if something does not hold of which files do not tell.
func TestSettledStepsRunWithWhatTheyNeed(t *testing.T) {
	w := newWorld(t)
	made := filepath.Join(w.dir, "made")
	steps := func(last replay.Postcondition) *replay.Plan {
		s := commands("true", "true", "true")
		for i := range s {
			s[i].Settled, s[i].Post = i > 0, []replay.Postcondition{{Kind: replay.PostNone}}
		}
		s[2].Post = []replay.Postcondition{last}
		p := w.plan(s, [2]int{1, 0})
		p.Settled = []replay.Postcondition{{Kind: replay.PostAbsent, Target: filepath.Join(w.dir, "x")}}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if r := w.run(steps(replay.Postcondition{Kind: replay.PostDirectory, Target: made})); statuses(r) != "done done done" {
		t.Error(statuses(r))
	}
	if err := os.Mkdir(made, 0o755); err != nil {
		t.Fatal(err)
	}
	w.j = &memory{}
	w.o.Journal = w.j
	if r := w.run(steps(replay.Postcondition{Kind: replay.PostDirectory, Target: made})); statuses(r) != "done done skipped" {
		t.Error(statuses(r))
	}
}

// TestSettledStepsOfWhatIsGone has steps that made what the last replays removed later: neither its kind nor its mode
// is asked for.
func TestSettledStepsOfWhatIsGone(t *testing.T) {
	w := newWorld(t)
	gone := filepath.Join(w.dir, "gone")
	s := commands("mkdir gone", "chmod 700 gone")
	s[0].Post = []replay.Postcondition{{Kind: replay.PostDirectory, Target: gone}}
	s[1].Post = []replay.Postcondition{{Kind: replay.PostMode, Target: gone, Hash: "700"}}
	for i := range s {
		s[i].Settled = true
	}
	p := w.plan(s, [2]int{1, 0})
	p.Settled = []replay.Postcondition{{Kind: replay.PostAbsent, Target: gone}}
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	if r := w.run(p); statuses(r) != "skipped skipped" {
		t.Errorf("%s: %+v", statuses(r), r.Steps)
	}
}

// TestSettledStepsAfterOthers has a step that is not done and makes again what a later one removes.
func TestSettledStepsAfterOthers(t *testing.T) {
	w := newWorld(t)
	state := filepath.Join(w.dir, "state")
	s := commands("echo 1 > state", "rm state")
	s[0].Post = []replay.Postcondition{{Kind: replay.PostNone}}
	s[1].Post = []replay.Postcondition{{Kind: replay.PostAbsent, Target: state}}
	s[1].Settled = true
	p := w.plan(s)
	p.Settled = []replay.Postcondition{{Kind: replay.PostAbsent, Target: state}}
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	if r := w.run(p); statuses(r) != "done done" {
		t.Error(statuses(r))
	}
}

// TestServicesThatNothingNeeds has a service that runs only for steps which are done.
func TestServicesThatNothingNeeds(t *testing.T) {
	for _, c := range []struct{ kind, want string }{{"needed", "skipped skipped skipped"}, {"result", "done skipped skipped"}} {
		w := newWorld(t)
		s := commands("true", "true", "true")
		s[0].Background, s[0].Why = true, []replay.Reason{{Kind: c.kind}}
		for i := range s {
			s[i].Settled, s[i].Post = i > 0, []replay.Postcondition{{Kind: replay.PostNone}}
		}
		p := w.plan(s)
		for _, i := range []int{1, 2} {
			p.Steps[i].Needs = []replay.Need{{On: 0, Kind: replay.NeedService}}
		}
		p.Settled = []replay.Postcondition{{Kind: replay.PostAbsent, Target: filepath.Join(w.dir, "x")}}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		if r := w.run(p); statuses(r) != c.want {
			t.Errorf("%s: %s, want %s", c.kind, statuses(r), c.want)
		}
	}
}

// TestServicesThatEnd has a service whose log stays when a later step has ended it: it starts again only if
// the log is gone. One that nothing is known to end, since a client told it to, ends with the run: it starts again if a
// later step has to run, or if others reach it.
func TestServicesThatEnd(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	for _, c := range []struct {
		name               string
		ends, left, listen bool
		isolation          sandbox.Isolation
		last               bool // the last step was done in the last replay
		want               string
	}{
		{"as it was", true, true, true, sandbox.IsolationNone, true, "skipped skipped skipped"},
		{"its log is gone", true, false, false, sandbox.IsolationNone, true, "done skipped skipped"},
		{"nothing ends it, and it does not listen", false, true, false, sandbox.IsolationNone, true, "skipped skipped skipped"},
		{"nothing ends it but the run", false, true, true, sandbox.IsolationSandbox, true, "skipped skipped skipped"},
		{"a later step has to run", false, true, true, sandbox.IsolationSandbox, false, "done skipped done"},
		{"others reach it", false, true, true, sandbox.IsolationNone, true, "done skipped skipped"},
	} {
		w := newWorld(t)
		w.o.Executor = w.open(c.isolation)
		log := filepath.Join(w.dir, "log")
		s := commands("echo > log", "true", "true")
		if c.listen {
			if _, err := exec.LookPath("python3"); err != nil {
				t.Skip("python3 is not there")
			}
			s[0].Command = "timeout 20 python3 -m http.server " + port + " --bind 127.0.0.1 > /dev/null 2>&1 &"
		}
		s[0].Background, s[0].Why = true, []replay.Reason{{Kind: "result"}}
		for i := range s {
			s[i].Settled, s[i].Post = true, []replay.Postcondition{{Kind: replay.PostNone}}
		}
		s[2].Settled = c.last
		if c.listen {
			s[0].Post = append(s[0].Post, replay.Postcondition{Kind: replay.PostPort, Target: port})
		}
		if c.ends {
			s[0].EndedBy = new(2)
		}
		p := w.plan(s)
		p.Steps[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedService}} // nobody knows whether the last one does
		p.Settled = []replay.Postcondition{{Kind: replay.PostFile, Target: log}}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		if c.left {
			if err := os.WriteFile(log, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if r := w.run(p); statuses(r) != c.want {
			t.Errorf("%s: %s, want %s", c.name, statuses(r), c.want)
		}
	}
}

// TestRequestsAreNotSentTwice has a service that has to start again, and writes its log then: what a request made
// it write is there, so it is not sent once more. A job that ended before a step counts as usual.
func TestRequestsAreNotSentTwice(t *testing.T) {
	for _, c := range []struct {
		name    string
		ended   *int
		settled bool
		want    string
	}{
		{"the service was left running", nil, true, "done skipped skipped"},
		{"a later step ends it", new(2), true, "done skipped skipped"},
		{"nothing is known of the last replay", nil, false, "done skipped skipped"},
		{"it had ended", new(1), true, "done skipped done"},
	} {
		w := newWorld(t)
		w.o.Executor = w.open(sandbox.IsolationSandbox)
		data := filepath.Join(w.dir, "data")
		if err := os.WriteFile(data, []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		s := commands("echo ready >> log", "true", "echo 1 >> data")
		for i := range s {
			s[i].Settled, s[i].Post = c.settled && i > 0, []replay.Postcondition{{Kind: replay.PostNone}}
		}
		s[0].Background, s[0].Why, s[0].EndedBy = true, []replay.Reason{{Kind: "result"}}, c.ended
		s[1].Post = []replay.Postcondition{{Kind: replay.PostFile, Target: data, Hash: sum("1\n")}}
		s[2].Post = s[1].Post
		p := w.plan(s)
		p.Steps[2].Needs = []replay.Need{{On: 0, Kind: replay.NeedDirectory, What: w.dir}}
		if c.settled {
			p.Settled = []replay.Postcondition{{Kind: replay.PostFile, Target: data, Hash: sum("1\n")}}
		}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		if r := w.run(p); statuses(r) != c.want {
			t.Errorf("%s: %s, want %s", c.name, statuses(r), c.want)
		}
	}
}

// TestStepsThatEndServices has a step that ends a service: it is done as long as the service did not have to start
// again, whether it needs it (kill $!) or not (kill %1).
func TestStepsThatEndServices(t *testing.T) {
	for _, needs := range []bool{true, false} {
		for settled, want := range map[bool]string{true: "skipped skipped skipped", false: "done done done"} {
			w := newWorld(t)
			s := commands("true", "true", "true")
			for i := range s {
				s[i].Settled, s[i].Post = i != 1 || settled, []replay.Postcondition{{Kind: replay.PostNone}}
			}
			s[0].Background, s[0].Why, s[0].EndedBy = true, []replay.Reason{{Kind: "result"}}, new(2)
			s[2].Settled, s[2].Post[0].Kind = false, replay.PostQuiet
			p := w.plan(s)
			p.Steps[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedService}}
			if needs {
				p.Steps[2].Needs = []replay.Need{{On: 0, Kind: replay.NeedService}}
			}
			p.Settled = []replay.Postcondition{{Kind: replay.PostAbsent, Target: filepath.Join(w.dir, "x")}}
			if err := p.Identify(); err != nil {
				t.Fatal(err)
			}
			if r := w.run(p); statuses(r) != want {
				t.Errorf("the last step needs it: %v, the other is settled: %v: %s, want %s", needs, settled, statuses(r), want)
			}
		}
	}
}

// TestStateThatIsNotKnown has a step that sets variables which are not known, as source does: it is done if all that
// may use them is.
func TestStateThatIsNotKnown(t *testing.T) {
	for settled, want := range map[bool]string{true: "skipped skipped", false: "done done"} {
		w := newWorld(t)
		s := commands("true", "true")
		for i := range s {
			s[i].Settled, s[i].Post = i == 0 || settled, []replay.Postcondition{{Kind: replay.PostNone}}
		}
		s[0].Sets = []string{"*"}
		p := w.plan(s)
		p.Steps[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedEnvironment, What: "*"}}
		p.Settled = []replay.Postcondition{{Kind: replay.PostAbsent, Target: filepath.Join(w.dir, "x")}}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		if r := w.run(p); statuses(r) != want {
			t.Errorf("the other step is settled: %v: %s, want %s", settled, statuses(r), want)
		}
	}
}
