package commands_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// TestInsightsScenarios reads testdata/insights/*.txt. A block is a history or,
// from a line "> insights", a question with what is answered below it:
//
//	SESSION: COMMAND [!CODE [OUTPUT]]     a command, one minute after the one before
//	@workspace NAME                       of the commands that follow
//	@session-gap MINUTES                  that pass before the next one
//	> insights [FILTER=VALUE…] [after=N] [show=templates,sequences,failures,next]
//
// COMMAND that ends in "!?" has no known outcome; "!2 text" ends with code 2 and
// prints text, in which \n is a new line. after=N is the N-th command, from 1.
func TestInsightsScenarios(t *testing.T) {
	golden.Files(t, "testdata/insights/*.txt", func(t *testing.T, text string) string {
		s := insightScenario{history: newHistory(t)}
		var out strings.Builder
		for line := range strings.Lines(text) {
			switch question := strings.HasPrefix(line, "> "); {
			case question:
				s.answered = true
				out.WriteString(line + s.ask(strings.TrimSpace(line)))
			case strings.TrimSpace(line) == "":
				s.answered = false
				out.WriteString(line)
			case !s.answered:
				out.WriteString(line)
				s.line(strings.TrimSpace(line))
			}
		}
		return out.String()
	})
}

type insightScenario struct {
	*history
	workspace string
	minute    int
	answered  bool
	positions []schemas.Position
}

func (s *insightScenario) line(l string) {
	switch key, value, _ := strings.Cut(l, " "); key {
	case "#":
		return
	case "@workspace":
		s.workspace = value
		return
	case "@session-gap":
		n, err := strconv.Atoi(value)
		if err != nil {
			s.t.Fatal(err)
		}
		s.minute += n
		return
	}
	session, command, ok := strings.Cut(l, ": ")
	if !ok {
		s.t.Fatalf("no SESSION: in %q", l)
	}
	if session == "-" {
		session = ""
	}
	command, how, _ := strings.Cut(command, " !")
	code, output, _ := strings.Cut(how, " ")
	p := map[string]any{"command": command, "session": session, "workspace": s.workspace, "cwd": s.workspace, "host": "laptop", "user": "ada"}
	if code != "?" {
		n, err := strconv.Atoi("0" + code)
		if err != nil {
			s.t.Fatalf("%q: %v", l, err)
		}
		p["exit_code"] = n
		p["output_tail"] = strings.ReplaceAll(output, `\n`, "\n")
	}
	b, err := json.Marshal(p)
	if err != nil {
		s.t.Fatal(err)
	}
	partition := int32(len(s.workspace) % 2)
	s.positions = append(s.positions, s.add(partition, s.minute, string(b)))
	s.minute++
}

func (s *insightScenario) ask(l string) string {
	r := commands.InsightsRequest{}
	show := "templates,sequences,failures,next"
	for _, arg := range strings.Fields(l)[2:] {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "limit":
			n, err := strconv.Atoi(value)
			if err != nil {
				s.t.Fatal(err)
			}
			r.Limit = n
		case "after":
			n, err := strconv.Atoi(value)
			if err != nil {
				s.t.Fatal(err)
			}
			r.After = s.positions[n-1].String()
		case "workspace":
			r.Filters.Workspace = value
		case "session":
			r.Filters.Session = value
		case "exit":
			r.Filters.Exit = value
		case "program":
			r.Filters.Program = value
		case "show":
			show = value
		default:
			s.t.Fatalf("no such argument: %s", arg)
		}
	}
	a, err := commands.Insights(s.t.Context(), s.sources(), r)
	if err != nil {
		return err.Error() + "\n"
	}
	return tellInsights(a, show)
}

// tellInsights writes an answer to be read; times are minutes since the epoch.
func tellInsights(a commands.InsightsResponse, show string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	at := func(t time.Time) string { return fmt.Sprintf("minute %d", int(t.Sub(epoch)/time.Minute)) }
	where := func(ps []schemas.Position) string {
		var s []string
		for _, p := range ps {
			s = append(s, fmt.Sprintf("%d/%d", p.Partition, p.Offset))
		}
		return strings.Join(s, " ")
	}
	say("%d commands", a.Commands)
	for part := range strings.SplitSeq(show, ",") {
		switch part {
		case "templates":
			for _, t := range a.Templates {
				say("template %s: %d runs, %d failed (%.2f), %d sessions, last at %s: %s; %s",
					t.Template, t.Runs, t.Failed, t.FailureRate, t.Sessions, at(t.Last), t.Example.Command, where(t.Evidence))
			}
		case "sequences":
			for _, q := range a.Sequences {
				say("sequence %s: %d runs, %d sessions, lift %.2f; %s", strings.Join(q.Templates, " | "), q.Runs, q.Sessions, q.Lift, where(q.Evidence))
			}
		case "failures":
			for _, f := range a.Failures {
				say("failure %s, exit %d, %q: %d runs, %d fixed, %d sessions, %s to %s: %s; %s",
					f.Template, f.ExitCode, f.Signature, f.Runs, f.Fixed, f.Sessions, at(f.First), at(f.Last), f.Example.Command, where(f.Evidence))
			}
		case "next":
			if a.After != nil {
				say("after %s", a.After.Command)
			}
			for _, n := range a.Next {
				say("next %s: %.3f, %d of %d after %s; %s", n.Command, n.Probability, n.Times, n.Of, n.Given, where(n.Evidence))
			}
		}
	}
	if a.Hint != "" {
		say("%s: %s", a.Status, a.Hint)
	}
	return b.String()
}

func (h *history) insights(r commands.InsightsRequest) commands.InsightsResponse {
	h.t.Helper()
	a, err := commands.Insights(h.t.Context(), h.sources(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// work makes a history of three workspaces, some of it with the outcome as an
// event of its own, and applies it in batches of a size.
func work(t *testing.T, size int) *history {
	t.Helper()
	h := newHistory(t)
	loop := []string{"vim src/a%d.go", "go test ./pkg%d", "git add a%d.go", "git commit -m 'change %d'", "git push"}
	todo := make([][]schemas.Event, 3)
	for i := range 600 {
		partition := i % 3
		command := loop[i/3%len(loop)]
		if strings.Contains(command, "%d") {
			command = fmt.Sprintf(command, i%7)
		}
		at := epoch.Add(time.Duration(i) * time.Minute)
		fields := map[string]any{"command": command, "session": fmt.Sprintf("s%d", i/90), "workspace": fmt.Sprintf("/src/w%d", partition), "host": "laptop"}
		code := 0
		if i%11 == 0 {
			code = 1
		}
		if i%4 != 0 {
			fields["exit_code"] = code
			fields["output_tail"] = fmt.Sprintf("FAIL: test %d", i)
		}
		event := func(typ string, at time.Time, fields map[string]any) schemas.Event {
			payload, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			e := schemas.Event{Type: typ, Source: "test", Time: at, ContentType: schemas.ContentJSON, Payload: payload}
			e.ID = e.DeriveID()
			return e
		}
		e := event(schemas.TypeCommandExecuted, at, fields)
		todo[partition] = append(todo[partition], e)
		if i%4 == 0 {
			o := event(schemas.TypeOutcomeObserved, at.Add(90*time.Second), map[string]any{"command_event_id": e.ID.String(), "exit_code": code, "output_tail": "error: no"})
			todo[(partition+1)%3] = append(todo[(partition+1)%3], o)
		}
	}
	for more := true; more; {
		more = false
		for p := range todo {
			n := min(size, len(todo[p]))
			if n == 0 {
				continue
			}
			h.addAll(int32(p), todo[p][:n])
			todo[p] = todo[p][n:]
			more = true
		}
	}
	return h
}

var untimed = cmpopts.IgnoreFields(query.Basis{}, "Timing")

// Equal histories give equal insights, however they were batched and however
// their partitions came together.
func TestInsightsAreReproducible(t *testing.T) {
	want := work(t, 1000).insights(commands.InsightsRequest{Limit: 50})
	if len(want.Templates) == 0 || len(want.Sequences) == 0 || len(want.Failures) == 0 || len(want.Next) == 0 {
		t.Fatalf("nothing to compare: %+v", want)
	}
	for _, size := range []int{1, 7, 64} {
		if diff := cmp.Diff(work(t, size).insights(commands.InsightsRequest{Limit: 50}), want, untimed); diff != "" {
			t.Errorf("in batches of %d: %s", size, diff)
		}
	}
}

// What is asked as of a watermark is what was answered at it.
func TestInsightsAsOf(t *testing.T) {
	h := newHistory(t)
	var then []commands.InsightsResponse
	for i := range 60 {
		command := []string{"make", "make test", "git push"}[i%3]
		p := h.add(int32(i%2), i, fmt.Sprintf(`{"command":%q,"session":"s"}`, command))
		h.add(int32(i/2%2), i, fmt.Sprintf(`{"command_event_id":%q,"exit_code":%d,"output_tail":"error %d"}`, h.find(commands.FindRequest{AsOf: query.AsOf{Offsets: schemas.Watermark{p.TP(): p.Offset + 1}}}).Hits[0].ID, i%5/4, i))
		if i%9 == 0 {
			then = append(then, h.insights(commands.InsightsRequest{}))
		}
	}
	ignore := cmpopts.IgnoreFields(query.Basis{}, "Timing", "AppliedFilters")
	for _, want := range then {
		got := h.insights(commands.InsightsRequest{Moment: query.Moment{AsOf: query.AsOf{Offsets: want.Watermark}}})
		if diff := cmp.Diff(got, want, ignore); diff != "" {
			t.Errorf("as of %s: %s", want.Watermark, diff)
		}
	}
	if last := then[len(then)-1]; len(last.Failures) == 0 || len(last.Sequences) == 0 {
		t.Errorf("nothing to compare: %+v", last)
	}
}

// Every position that a pattern names is one of its commands, and passes the
// filters.
func TestInsightsRestOnTheirEvidence(t *testing.T) {
	h := work(t, 100)
	a := h.insights(commands.InsightsRequest{Limit: 100, Filters: commands.Filters{Workspace: "/src/w1", Since: epoch.Add(time.Hour)}})
	show := func(p schemas.Position) commands.ShowResponse {
		s, err := commands.Show(t.Context(), h.sources(), p.String())
		if err != nil {
			t.Fatal(err)
		}
		if s.Workspace != "/src/w1" || s.Time.Before(epoch.Add(time.Hour)) {
			t.Errorf("%s: in %s at %s", p, s.Workspace, s.Time)
		}
		return s
	}
	n := int64(0)
	for _, x := range a.Templates {
		n += x.Runs
		for _, p := range x.Evidence {
			if s := show(p); s.Template != x.Template {
				t.Errorf("%s is %q, evidence of %q", p, s.Template, x.Template)
			}
		}
	}
	if n != a.Commands || n == 0 {
		t.Errorf("the templates have %d runs, there are %d commands", n, a.Commands)
	}
	for _, x := range a.Failures {
		for _, p := range x.Evidence {
			if s := show(p); s.Template != x.Template || *s.ExitCode != x.ExitCode {
				t.Errorf("%s is %q %d, evidence of %+v", p, s.Template, *s.ExitCode, x)
			}
		}
	}
	for _, x := range a.Sequences {
		for _, p := range x.Evidence {
			if s := show(p); s.Template != x.Templates[0] {
				t.Errorf("%s is %q, the beginning of %q", p, s.Template, x.Templates)
			}
		}
	}
	sum := 0.0
	for _, x := range a.Next {
		sum += x.Probability
		if s := show(x.Evidence[0]); s.Template != x.Template || s.Command != x.Command {
			t.Errorf("%q of %q, its evidence is %q", x.Command, x.Template, s.Command)
		}
	}
	if len(a.Next) == 0 || sum > 1 {
		t.Errorf("%d suggestions, probabilities add up to %v", len(a.Next), sum)
	}
}

func TestInsightsRefuse(t *testing.T) {
	h := small(t)
	for field, r := range map[string]commands.InsightsRequest{
		"limit":            {Limit: commands.MaxLimit + 1},
		"wait_ms":          {Moment: query.Moment{WaitMS: -1}},
		"filters.exit":     {Filters: commands.Filters{Exit: "perhaps"}},
		"filters.category": {Filters: commands.Filters{Category: "?"}},
	} {
		var re *query.RequestError
		if _, err := commands.Insights(t.Context(), h.sources(), r); !errors.As(err, &re) || re.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	var nf *query.NotFoundError
	for _, ref := range []string{"zz", "0000", "recount.commands/0/99", "no/such/thing"} {
		if _, err := commands.Insights(t.Context(), h.sources(), commands.InsightsRequest{After: ref}); !errors.As(err, &nf) {
			t.Errorf("after %q: %v", ref, err)
		}
	}
	var nv *query.NotVisibleError
	late := query.Moment{AtLeast: schemas.Watermark{{Topic: topic}: 1000}, WaitMS: 1}
	if _, err := commands.Insights(t.Context(), h.sources(), commands.InsightsRequest{Moment: late}); !errors.As(err, &nv) {
		t.Errorf("at_least: %v", err)
	}
}
