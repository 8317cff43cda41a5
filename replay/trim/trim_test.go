package trim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// machine runs plans whose commands are of a few words: write F TEXT, append F TEXT, copy F G, remove F, look F, stamp F, which
// writes another text each time, log DIR/ TEXT, which writes a file of another name each time.
type machine struct{ runs int }

func (m *machine) try(p *replay.Plan) func(context.Context, map[int]bool) (End, error) {
	return func(_ context.Context, without map[int]bool) (End, error) {
		m.runs++
		files := map[string]string{}
		end := End{Steps: map[int]Outcome{}, Wrote: map[int][]string{}}
		for i, s := range p.Steps {
			if without[i] {
				continue
			}
			was := maps.Clone(files)
			w := append(strings.Fields(s.Command), "", "")
			text, there := files[w[1]]
			out := Outcome{Fine: true, Ran: true}
			switch w[0] {
			case "write":
				files[w[1]] = w[2]
			case "append":
				files[w[1]] += w[2]
			case "copy":
				if out.Fine = there; there {
					files[w[2]] = text
				}
			case "remove":
				out.Fine = there
				delete(files, w[1])
			case "look":
				out.Output, out.Fine = text, there
			case "stamp":
				files[w[1]] = fmt.Sprint(m.runs)
			case "there":
				out.Ran = false
			case "log":
				files[w[1]+fmt.Sprint(m.runs)] = w[2]
			}
			for _, n := range s.Needs {
				if on, tried := end.Steps[n.On]; tried && !on.Fine { // it is blocked
					files, out = was, Outcome{}
				}
			}
			end.Steps[i] = out
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if is, was := files[name], was[name]; is != was {
					end.Wrote[i] = append(end.Wrote[i], name)
				}
			}
		}
		end.Files = files
		return end, nil
	}
}

func planOf(kind string, commands ...string) *replay.Plan {
	p := &replay.Plan{Goal: replay.Goal{Kind: kind}}
	for i, c := range commands {
		p.Steps = append(p.Steps, replay.Step{Index: i, Intent: schemas.EventID{byte(i + 1)}, Command: c, Original: c})
	}
	if kind != "session" {
		p.Goal.Intents = []schemas.EventID{p.Steps[len(commands)-1].Intent}
	}
	return p
}

func TestMinimal(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		commands   []string
		want       string
	}{
		{"all are needed", "session", []string{"write a x", "copy a b", "append b y"}, ""},
		{"what is written anew", "session", []string{"write a x", "write a y"}, "0"},
		{"what is made and removed", "session", []string{"write a x", "write b x", "remove a"}, "0 2"},
		{"what is used meanwhile", "session", []string{"write a x", "copy a b", "remove a"}, ""},
		{"a chain that is removed", "session", []string{"write a x", "copy a b", "copy b c", "remove c", "remove b", "remove a", "write d x"}, "0 1 2 3 4 5"},
		{"a look", "session", []string{"write a x", "look a"}, "1"},
		{"for a goal only what it leaves", "command", []string{"write a x", "write b y", "copy a c"}, "1"},
		{"for a goal what it prints", "command", []string{"write a x", "write b y", "look b"}, "0"},
		{"what failed is not left out with what mended it", "mend", []string{"write a x", "write b y", "copy a c", "look c"}, "1"},
		{"a file of another name each time", "session", []string{"log d/ x", "write a x", "write a y"}, "1"},
		{"what is there", "session", []string{"there", "write a x", "write a y"}, "1"},
	} {
		p := planOf(c.kind, c.commands...)
		m := &machine{}
		r, err := Minimal(t.Context(), p, Options{Try: m.try(p)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, i := range slices.Sorted(maps.Keys(r.Without)) {
			got = append(got, fmt.Sprint(i))
		}
		if strings.Join(got, " ") != c.want || m.runs != r.Trials {
			t.Errorf("%s: leaves out %q, want %q (%d trials, %d runs)", c.name, got, c.want, r.Trials, m.runs)
		}
	}
}

// TestLeft has steps that the evidence left out: those without which the end is another one are put back, and the others
// stay out. One that fails here is no part of any trial, and where the narrative itself does not come to its end with them,
// they are not tried.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		commands  []string
		left      []int
		want      string
		back      []int
		unchecked bool
	}{
		{[]string{"write a x", "look a", "copy a b", "look b", "look a"}, []int{1, 3, 4}, "1 3 4", nil, false},
		{[]string{"write a x", "look a", "append a y", "look a", "copy a b"}, []int{1, 2, 3}, "1 3", []int{2}, false},
		{[]string{"write a x", "look b", "copy a b"}, []int{1}, "1", nil, false},
		{[]string{"write a x", "write t x", "append a y", "look t", "remove t", "copy a b"}, []int{1, 2, 3, 4}, "1 3 4", []int{2}, false},
		{[]string{"write a x", "copy a b", "remove a", "look b", "copy a c", "write c y"}, []int{2, 3}, "2 3 4", nil, true},
	} {
		p := planOf("session", c.commands...)
		left := map[int]bool{}
		for _, i := range c.left {
			left[i] = true
		}
		m := &machine{}
		r, err := Minimal(t.Context(), p, Options{Try: m.try(p), Left: left})
		got := strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(r.Without))), "[]")
		if err != nil || got != c.want || !slices.Equal(r.Back, c.back) || r.Unchecked != c.unchecked {
			t.Errorf("%q: without %s, want %s; %+v, %v", c.commands, got, c.want, r, err)
		}
	}
}

// TestKeep has a step with an effect that a trial does not show: it stays, with what it needs.
func TestKeep(t *testing.T) {
	p := planOf("session", "write a x", "write a y", "write b x", "write b y")
	p.Steps[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedFile}}
	m := &machine{}
	r, err := Minimal(t.Context(), p, Options{Try: m.try(p), Keep: map[int]bool{1: true}})
	if got := slices.Sorted(maps.Keys(r.Without)); err != nil || !slices.Equal(got, []int{2}) {
		t.Errorf("without %v, %v", got, err)
	}
}

// TestPrinted has a goal that prints another text each time, and one of which not all is known: what they need stays.
func TestPrinted(t *testing.T) {
	for _, unsure := range []bool{false, true} {
		p := planOf("command", "write a x", "write b y", "look a")
		p.Steps[2].Needs = []replay.Need{{On: 0, Kind: replay.NeedFile}}
		m := &machine{}
		try := m.try(p)
		r, err := Minimal(t.Context(), p, Options{Left: map[int]bool{}, Try: func(ctx context.Context, without map[int]bool) (End, error) {
			end, err := try(ctx, without)
			out := end.Steps[2]
			if out.Unsure = unsure; !unsure {
				out.Output += fmt.Sprint(m.runs)
			}
			end.Steps[2], end.Wrote[2] = out, []string{"a"}
			return end, err
		}})
		if got := slices.Sorted(maps.Keys(r.Without)); err != nil || !slices.Equal(got, []int{1}) || !r.Printed {
			t.Errorf("unsure %t: without %v, %+v, %v", unsure, got, r, err)
		}
	}
}

// TestBlocked has a step that is not begun since one that it may need fails without another: only that one is left out too.
func TestBlocked(t *testing.T) {
	p := planOf("session", "write a x", "remove a", "write b y")
	p.Steps[2].Needs = []replay.Need{{On: 1, Kind: replay.NeedDirectory}}
	m := &machine{}
	r, err := Minimal(t.Context(), p, Options{Try: m.try(p)})
	if got := slices.Sorted(maps.Keys(r.Without)); err != nil || !slices.Equal(got, []int{0, 1}) {
		t.Errorf("without %v, %v", got, err)
	}
}

// TestRecorded has a plan that lacks a step, but leaves what was recorded, which the narrative does not where it is tried:
// nothing is put back. Where it does not leave it, the step is.
func TestRecorded(t *testing.T) {
	for _, c := range []struct{ recorded, want string }{{"x", "1"}, {"y", "0"}} { // what step 0 writes, step 1 writes anew
		p := planOf("session", "write a x", "write a y", "copy a b")
		m := &machine{}
		try, last := m.try(p), End{}
		r, err := Minimal(t.Context(), p, Options{
			Left: map[int]bool{1: true},
			Try: func(ctx context.Context, without map[int]bool) (end End, err error) {
				last, err = try(ctx, without)
				return last, err
			},
			Recorded: func() (int, error) {
				if last.Files["b"] == c.recorded {
					return 0, nil
				}
				return 1, nil
			},
		})
		if got := strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(r.Without))), "[]"); err != nil || got != c.want {
			t.Errorf("recorded %s: without %s, want %s; %+v, %v", c.recorded, got, c.want, r, err)
		}
	}
}

// TestVarying has a file of another content each time: the steps that it rests on stay.
func TestVarying(t *testing.T) {
	p := planOf("session", "write a x", "stamp s", "write b x", "write b y")
	p.Steps[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedFile}}
	m := &machine{}
	r, err := Minimal(t.Context(), p, Options{Try: m.try(p)})
	if err != nil || len(r.Without) != 1 || !r.Without[2] || !slices.Equal(r.Varying, []string{"s"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestUnfit(t *testing.T) {
	for _, p := range []*replay.Plan{
		planOf("session", "write a x", "copy missing b"), // does not come to its end
		planOf("command", "write a x", "write a x"),      // leaves nothing else than was there, and prints nothing
	} {
		m := &machine{}
		_, err := Minimal(t.Context(), p, Options{Try: m.try(p)})
		var unfit *UnfitError
		if !errors.As(err, &unfit) {
			t.Errorf("%v: %v", p.Steps, err)
		}
	}
}

func TestLimited(t *testing.T) {
	p := planOf("session", "write a x", "write a y", "write b x", "write b y")
	m := &machine{}
	r, err := Minimal(t.Context(), p, Options{Try: m.try(p), Trials: 3})
	if err != nil || !r.Limited || m.runs != 3 || len(r.Without) != 1 {
		t.Errorf("%+v, %v after %d runs", r, err, m.runs)
	}
	m = &machine{}
	r, err = Minimal(t.Context(), p, Options{Try: m.try(p), Trials: 3, Left: map[int]bool{0: true, 1: true}})
	if err != nil || !r.Limited || !r.Unchecked || len(r.Without) != 2 || len(r.Back) != 0 {
		t.Errorf("with steps to put back: %+v, %v after %d runs", r, err, m.runs)
	}
}

// TestWithout leaves a step out of a plan: what names steps by their places names the same ones, and what stood behind
// the step stands behind what that one needed.
func TestWithout(t *testing.T) {
	p := planOf("session", "write a x", "copy a b", "copy b c", "remove c", "write c y")
	three := 3
	p.Steps[2].Needs = []replay.Need{{On: 1, Kind: replay.NeedFile, What: "b"}}
	p.Steps[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedFile, What: "a"}}
	p.Steps[3].Needs = []replay.Need{{On: 2, Kind: replay.NeedFile, What: "c"}}
	p.Steps[2].Post = []replay.Postcondition{{Kind: replay.PostFile, Target: "c", ReplacedBy: &three}}
	p.Inputs = []replay.Input{{Path: "i", Step: 1}, {Path: "j", Step: 3}}
	p.Parameters = []replay.Parameter{{Name: "V", Steps: []int{1, 4}}, {Name: "W", Steps: []int{1}}}
	p.Environment = []replay.Difference{{Step: 2}}
	out, err := Without(p, map[int]bool{1: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Check(); err != nil {
		t.Error(err)
	}
	var lines []string
	for _, s := range out.Steps {
		line := s.Command
		for _, n := range s.Needs {
			line += fmt.Sprintf(" (%s of %d)", n.Kind, n.On)
		}
		lines = append(lines, line)
	}
	if got, want := strings.Join(lines, "; "), "write a x; copy b c (order of 0); remove c (file of 1); write c y"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if at := out.Steps[1].Post[0].ReplacedBy; at == nil || *at != 2 || *p.Steps[2].Post[0].ReplacedBy != 3 {
		t.Errorf("replaced by %v", at)
	}
	if len(out.Inputs) != 1 || out.Inputs[0].Step != 2 || len(out.Parameters) != 1 || !slices.Equal(out.Parameters[0].Steps, []int{3}) || out.Environment[0].Step != 1 {
		t.Errorf("%+v %+v %+v", out.Inputs, out.Parameters, out.Environment)
	}
	if len(out.Left) != 1 || out.Left[0].Kind != replay.LeftTried || out.Left[0].Command != "copy a b" || p.ID == out.ID || len(p.Steps) != 5 {
		t.Errorf("left out: %+v", out.Left)
	}
}
