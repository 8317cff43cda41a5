package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// TestNarrativeScenarios runs testdata/narrative/*.txt: blocks of lines, each of which appends a
// command or asks something; what was answered stands below "----".
//
//	set KEY=VALUE…               for the commands that follow
//	run KEY=VALUE… | COMMAND     appends a command, a minute after the one before;
//	                             keys: exit, out, cwd, session, workspace, host, user,
//	                             author, shell, head, intent, env, took, parent (#N), at (minute), p (partition)
//	ended #N KEY=VALUE…          appends an outcome: exit, out, took, at, p
//	why #N KEY=VALUE…            keys: depth, nodes, kinds, min_weight, limit, as_of, proof=yes
//	stitch #N KEY=VALUE…         the same
//	diff #N #M KEY=VALUE…        the same
//
// #N is the Nth command run; as_of=#N is below the event of that command.
func TestNarrativeScenarios(t *testing.T) {
	golden.Files(t, "testdata/narrative/*.txt", func(t *testing.T, text string) string {
		return newScenario(t).run(text)
	})
}

// scenario is one file being run.
type scenario struct {
	*history
	defaults map[string]string
	minute   int
	ids      []schemas.EventID
	at       []schemas.Position
}

func newScenario(t *testing.T) *scenario {
	return &scenario{history: newHistory(t), defaults: map[string]string{}}
}

// run gives the text with the answers in place.
func (s *scenario) run(text string) string {
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		input, _, _ := strings.Cut(block+"\n", "----\n")
		var answers strings.Builder
		for line := range strings.Lines(input) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				if a := s.line(line); a != "" {
					answers.WriteString("> " + line + "\n" + a)
				}
			}
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString(input)
		if answers.Len() > 0 {
			out.WriteString("----\n" + answers.String())
		}
	}
	return out.String()
}

var pairRE = regexp.MustCompile(`([a-z_]+)=("(?:[^"\\]|\\.)*"|\S*)`)

func (s *scenario) line(line string) string {
	s.t.Helper()
	head, command, _ := strings.Cut(line, " | ")
	verb, rest, _ := strings.Cut(head, " ")
	kv := map[string]string{}
	for _, m := range pairRE.FindAllStringSubmatch(rest, -1) {
		v := m[2]
		if strings.HasPrefix(v, `"`) {
			var err error
			if v, err = strconv.Unquote(v); err != nil {
				s.t.Fatalf("%s: %v", line, err)
			}
		}
		kv[m[1]] = v
	}
	var refs []int
	for _, w := range strings.Fields(rest) {
		if n, ok := strings.CutPrefix(w, "#"); ok {
			refs = append(refs, s.number(n))
		}
	}
	switch verb {
	case "set":
		for k, v := range kv {
			s.defaults[k] = v
		}
	case "run":
		s.append(kv, command)
	case "ended":
		s.ended(refs[0], kv)
	case "why", "stitch", "diff":
		return s.ask(verb, refs, kv)
	default:
		s.t.Fatalf("%s: unknown", line)
	}
	return ""
}

func (s *scenario) number(n string) int {
	s.t.Helper()
	i, err := strconv.Atoi(n)
	if err != nil || i < 1 || i > len(s.ids) {
		s.t.Fatalf("#%s: no such command", n)
	}
	return i - 1
}

func (s *scenario) when(kv map[string]string) time.Time {
	if at, ok := kv["at"]; ok {
		s.minute = s.atoi(at)
	} else {
		s.minute++
	}
	return epoch.Add(time.Duration(s.minute) * time.Minute)
}

func (s *scenario) atoi(v string) int {
	s.t.Helper()
	n, err := strconv.Atoi(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *scenario) append(kv map[string]string, command string) {
	for k, v := range s.defaults {
		if _, ok := kv[k]; !ok {
			kv[k] = v
		}
	}
	p := map[string]any{"command": command}
	for key, field := range map[string]string{
		"out": "output_tail", "cwd": "cwd", "session": "session", "workspace": "workspace", "host": "host", "user": "user",
		"author": "author", "shell": "shell", "head": "git_head", "intent": "stated_intent", "took": "duration",
	} {
		if v, ok := kv[key]; ok {
			p[field] = v
		}
	}
	if v, ok := kv["exit"]; ok {
		p["exit_code"] = s.atoi(v)
	}
	if v, ok := kv["env"]; ok {
		p["env"] = map[string]string{"SET": v}
	}
	if v, ok := kv["parent"]; ok {
		p["parent_event_id"] = s.ids[s.number(v[1:])].String()
	}
	s.emit(schemas.TypeCommandExecuted, kv, p)
}

func (s *scenario) ended(n int, kv map[string]string) {
	p := map[string]any{"command_event_id": s.ids[n].String()}
	for key, field := range map[string]string{"out": "output_tail", "took": "duration"} {
		if v, ok := kv[key]; ok {
			p[field] = v
		}
	}
	if v, ok := kv["exit"]; ok {
		p["exit_code"] = s.atoi(v)
	}
	s.emit(schemas.TypeOutcomeObserved, kv, p)
}

func (s *scenario) emit(typ string, kv map[string]string, payload map[string]any) {
	b, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	e := schemas.Event{Type: typ, Source: "scenario", Time: s.when(kv), ContentType: schemas.ContentJSON, Payload: b}
	e.ID = schemas.NewCanon("scenario").String(typ).String(strconv.Itoa(s.minute)).Bytes(b).ID()
	partition := 0
	if v, ok := kv["p"]; ok {
		partition = s.atoi(v)
	}
	at := s.addAll(int32(partition), []schemas.Event{e})
	if typ == schemas.TypeCommandExecuted {
		s.ids, s.at = append(s.ids, e.ID), append(s.at, at)
	}
}

func (s *scenario) bounds(kv map[string]string) (w commands.Walk, m query.Moment, limit int) {
	s.t.Helper()
	for k, v := range kv {
		switch k {
		case "depth":
			w.Depth = s.atoi(v)
		case "nodes":
			w.Nodes = s.atoi(v)
		case "limit":
			limit = s.atoi(v)
		case "kinds":
			w.Kinds = strings.Split(v, ",")
		case "min_weight":
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			w.MinWeight = f
		case "as_of":
			if n, ok := strings.CutPrefix(v, "#"); ok {
				at := s.at[s.number(n)]
				m.AsOf.Offsets = schemas.Watermark{at.TP(): at.Offset}
			} else {
				m.AsOf.Time = epoch.Add(time.Duration(s.atoi(v)) * time.Minute)
			}
		}
	}
	return w, m, limit
}

func (s *scenario) ask(verb string, refs []int, kv map[string]string) string {
	s.t.Helper()
	w, m, limit := s.bounds(kv)
	ref := func(i int) string { return s.ids[refs[i]].String() }
	var b bytes.Buffer
	var basis query.Basis
	var err error
	switch verb {
	case "why":
		var r commands.WhyResponse
		r, err = commands.Why(s.t.Context(), s.sources(), commands.WhyRequest{Ref: ref(0), Limit: limit, Walk: w, Moment: m})
		if basis = r.Basis; err == nil {
			s.printWhy(&b, r)
		}
	case "stitch":
		var r commands.StitchResponse
		r, err = commands.Stitch(s.t.Context(), s.sources(), commands.StitchRequest{Ref: ref(0), Walk: w, Moment: m})
		if basis = r.Basis; err == nil {
			s.printStitch(&b, r)
		}
	case "diff":
		var r commands.DiffResponse
		sources := s.sources()
		sources.Event = func(_ context.Context, at schemas.Position) (schemas.LogRecord, error) { return s.log[at], nil }
		r, err = commands.Diff(s.t.Context(), sources, commands.DiffRequest{A: ref(0), B: ref(1), Walk: w, Moment: m})
		if basis = r.Basis; err == nil {
			s.printDiff(&b, r)
		}
	}
	if err != nil {
		return s.numbered(fmt.Sprintf("error: %v\n", err))
	}
	if basis.Hint != "" {
		fmt.Fprintf(&b, "hint: %s\n", basis.Hint)
	}
	if kv["proof"] == "yes" {
		for _, f := range basis.AppliedFilters {
			fmt.Fprintf(&b, "filter: %s %s %s\n", f.Field, f.Op, f.Value)
			if op, _ := reflect.TypeFor[query.AppliedFilter]().FieldByName("Op"); !slices.Contains(strings.Split(op.Tag.Get("enum"), ","), f.Op) {
				s.t.Errorf("applied filter %s: the description does not know the op %q", f.Field, f.Op)
			}
		}
		for _, p := range basis.Proof {
			line, err := json.Marshal(p)
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(&b, "proof: %s\n", line)
		}
	}
	return s.numbered(b.String())
}

// numbered has #N for each id.
func (s *scenario) numbered(text string) string {
	for i, id := range s.ids {
		text = strings.ReplaceAll(text, id.String(), fmt.Sprintf("#%d", i+1))
	}
	return text
}

func brief(i *commands.Intent) string {
	exit := "?"
	if i.ExitCode != nil {
		exit = strconv.Itoa(int(*i.ExitCode))
	}
	return fmt.Sprintf("%s `%s` %s", i.ID, i.Command, exit)
}

func (s *scenario) printWhy(b *bytes.Buffer, r commands.WhyResponse) {
	fmt.Fprintf(b, "%s: %s\n", r.Status, brief(&r.Root))
	for _, c := range r.Causes {
		fmt.Fprintf(b, "%.2f  %s: %s\n", c.Score, brief(&c.Intent), c.Why)
		if c.Depth > 1 {
			fmt.Fprintf(b, "      by way of %v\n", c.Path[1:len(c.Path)-1])
		}
	}
	s.printEdges(b, r.Edges)
}

func (s *scenario) printEdges(b *bytes.Buffer, edges []commands.Edge) {
	for _, e := range edges {
		var evidence []string
		for _, v := range e.Evidence {
			evidence = append(evidence, strings.TrimSpace(fmt.Sprintf("%d/%d %s %s", v.Position.Partition, v.Position.Offset, v.Shows, v.Resource)))
		}
		fmt.Fprintf(b, "%s → %s %s %.2f (%s)\n", e.From, e.To, e.Rule, e.Weight, strings.Join(evidence, "; "))
	}
}

func (s *scenario) printStitch(b *bytes.Buffer, r commands.StitchResponse) {
	fmt.Fprintf(b, "%s: around %s, truncated: %v\n", r.Status, r.Root, r.Truncated)
	for _, n := range r.Nodes {
		fmt.Fprintf(b, "%d  %s\n", n.Depth, brief(&n.Intent))
	}
	for _, e := range r.Edges {
		fmt.Fprintf(b, "%s → %s %s %.2f\n", e.From, e.To, e.Kind, e.Weight)
	}
}

func (s *scenario) printDiff(b *bytes.Buffer, r commands.DiffResponse) {
	fmt.Fprintf(b, "%s: %s and %s\n", r.Status, r.A, r.B)
	for _, l := range r.Lines {
		var sides []string
		for _, i := range []*commands.Intent{l.A, l.B} {
			if i == nil {
				sides = append(sides, "-")
			} else {
				sides = append(sides, brief(i))
			}
		}
		fmt.Fprintf(b, "%-8s %s\n", l.Way, strings.Join(sides, "  |  "))
		for _, c := range l.Changes {
			fmt.Fprintf(b, "           %s: %q → %q\n", c.Field, c.A, c.B)
		}
	}
	var counts []string
	for way, n := range r.Counts {
		counts = append(counts, fmt.Sprintf("%s %d", way, n))
	}
	slices.Sort(counts)
	fmt.Fprintf(b, "%s\n", strings.Join(counts, ", "))
	if r.Verdict != "" {
		fmt.Fprintf(b, "%s\n", r.Verdict)
	}
}
