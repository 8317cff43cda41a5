package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// size is the amount of data to generate.
type size struct {
	// incidents is the number of sessions in which something fails, is investigated and
	// fixed; each has quiet sessions beside it, in which nothing notable happens.
	incidents, quiet int
	// statements is the number of facts that are stated, repeated, changed or contradicted.
	statements int
}

// generator writes a log of agents' events and questions about it. Equal seeds give equal
// bytes.
type generator struct {
	rng      *rand.Rand
	d        *dataset
	sessions []*session
	numbers  map[string]int
}

// session is one conversation. Its events are merged with those of others by time.
type session struct {
	g           *generator
	name, agent string
	workspace   string
	at          time.Time
	n           int
	last        string // id of the event before
	events      []event
}

var workspaces = []string{"/src/shop", "/src/backoffice"}

var agents = []string{"ada", "bob", "cleo", "dmitri", "eve"}

// start is the time at which a generated log begins.
var start = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

func generate(seed uint64, z size) *dataset {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0x65766964656e6365)), d: &dataset{name: fmt.Sprintf("synthetic, seed %d", seed)}, numbers: map[string]int{}}
	incidents := g.pairs(z.incidents)
	for i, p := range incidents {
		g.incident(i, p[0], p[1])
		for range z.quiet {
			g.quietSession()
		}
	}
	g.facts(z.statements)
	for _, s := range g.sessions {
		g.d.events = append(g.d.events, s.events...)
	}
	slices.SortStableFunc(g.d.events, func(x, y event) int { return x.time().Compare(y.time()) })
	return g.d
}

func pick[T any](g *generator, from []T) T { return from[g.rng.IntN(len(from))] }

// pairs returns n distinct pairs of a component and a problem.
func (g *generator) pairs(n int) [][2]int {
	var all [][2]int
	for c := range components {
		for t := range troubles {
			all = append(all, [2]int{c, t})
		}
	}
	g.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// open begins a session at some time within sixty days.
func (g *generator) open(workspace string) *session {
	g.numbers["session"]++
	s := &session{
		g: g, name: fmt.Sprintf("s-%04d", g.numbers["session"]), agent: pick(g, agents), workspace: workspace,
		at: start.Add(time.Duration(g.rng.Int64N(int64(60 * 24 * time.Hour)))).Truncate(time.Second),
	}
	g.sessions = append(g.sessions, s)
	return s
}

// add appends an event, caused by the previous one unless it names another cause.
func (s *session) add(typ string, m *recountv1.AgentEvent) string {
	s.at = s.at.Add(time.Duration(2+s.g.rng.IntN(60)) * time.Second)
	s.n++
	id := fmt.Sprintf("%s/%d", s.name, s.n)
	m.Workspace, m.Agent, m.Session, m.OccurredAt = s.workspace, s.agent, s.name, timestamppb.New(s.at)
	if m.ParentEventId == "" {
		m.ParentEventId = s.last
	}
	s.events = append(s.events, event{id, typ, m})
	s.last = id
	return id
}

// call appends a shell call and its result.
func (s *session) call(thought, command, output string, exit int32) (call, result string) {
	args, _ := json.Marshal(map[string]string{"command": command})
	callID := fmt.Sprint("call_", s.n)
	call = s.add(schemas.TypeToolCall, &recountv1.AgentEvent{Thought: thought, Tool: &recountv1.Tool{
		Name: "bash", CallId: callID, Arguments: string(args), Command: command, Cwd: s.workspace,
	}})
	result = s.add(schemas.TypeToolResult, &recountv1.AgentEvent{Tool: &recountv1.Tool{
		Name: "bash", CallId: callID, Result: s.noise(output), ExitCode: &exit, Failed: exit != 0,
	}})
	return call, result
}

// edit appends a call that changes a file, and its result.
func (s *session) edit(thought, file, with string) string {
	args, _ := json.Marshal(map[string]string{"path": file, "new_str": with})
	callID := fmt.Sprint("call_", s.n)
	id := s.add(schemas.TypeToolCall, &recountv1.AgentEvent{Thought: thought, Tool: &recountv1.Tool{Name: "edit", CallId: callID, Arguments: string(args), Files: []string{file}}})
	s.add(schemas.TypeToolResult, &recountv1.AgentEvent{Tool: &recountv1.Tool{Name: "edit", CallId: callID, Result: "The file has been updated."}})
	return id
}

// noise puts log lines around a program's output.
func (s *session) noise(text string) string {
	var b strings.Builder
	line := func() {
		fmt.Fprintf(&b, "%s INFO worker=%d request=%08x took=%dms\n", s.at.Format("15:04:05.000"), s.g.rng.IntN(8), s.g.rng.Uint32(), s.g.rng.IntN(900))
	}
	before, after := s.g.rng.IntN(12), s.g.rng.IntN(6)
	for range before {
		line()
	}
	b.WriteString(text + "\n")
	for range after {
		line()
	}
	return b.String()
}

// errand appends an unrelated action.
func (s *session) errand(c component, file string) {
	e := pick(s.g, errands)
	fill := func(t string) string {
		if !strings.Contains(t, "%") {
			return t
		}
		text := fmt.Sprintf(t, c.dir, file)
		text, _, _ = strings.Cut(text, "%!(EXTRA")
		return text
	}
	s.call("", fill(e.command), fill(e.result), 0)
}

// called returns the name of a component in questions.
func (g *generator) called(c component) string {
	if g.rng.IntN(5) < 2 {
		return c.asked
	}
	return "the " + c.name
}

// incident adds a session in which something fails, is understood and fixed, and the
// questions that it answers.
func (g *generator) incident(n, ci, ti int) {
	c, t := components[ci], troubles[ti]
	s := g.open(workspaces[ci%len(workspaces)])
	file := c.dir + "/" + t.file
	title := fmt.Sprintf("%s %s", c.name, t.told)
	task := fmt.Sprintf("T-%d", n+1)
	s.add(schemas.TypeTaskStarted, &recountv1.AgentEvent{Task: &recountv1.Task{Id: task, Title: title}})
	asked := s.add(schemas.TypeUserMessage, &recountv1.AgentEvent{Text: fmt.Sprintf("The %s %s. Please find out why and mend it.", c.name, t.told)})
	plan := &recountv1.Plan{Id: task, Steps: []*recountv1.PlanStep{{Text: "reproduce", Status: "in_progress"}, {Text: "find the reason", Status: "pending"}, {Text: "mend and test", Status: "pending"}}}
	s.add(schemas.TypePlanUpdated, &recountv1.AgentEvent{Plan: plan})
	for range g.rng.IntN(3) {
		s.errand(c, t.file)
	}
	test := fmt.Sprintf("go test ./%s/...", c.dir)
	call, failed := s.call("I reproduce it first.", test, "--- FAIL: Test"+strings.ToUpper(c.name[:1])+fmt.Sprint(n)+"\n    "+t.printed+"\nFAIL\tacme/"+c.dir, 1)
	for range g.rng.IntN(3) {
		s.add(schemas.TypeAssistantMessage, &recountv1.AgentEvent{Text: pick(g, dead)})
		s.errand(c, t.file)
	}
	cause := t.cause
	if g.rng.IntN(2) == 0 {
		cause = fmt.Sprintf("That is why the %s %s: ", c.name, t.told) + strings.ToLower(t.cause[:1]) + t.cause[1:]
	}
	found := s.add(schemas.TypeCritique, &recountv1.AgentEvent{Text: cause, CausedBy: []string{failed}})
	if g.rng.IntN(2) == 0 {
		s.errand(c, t.file)
	}
	fix := s.edit("That is what has to change.", file, t.fix)
	_, passed := s.call("Now again.", test, "ok  \t"+c.dir+"\t0.31s", 0)
	done := &recountv1.Plan{Id: task, Steps: []*recountv1.PlanStep{{Text: "reproduce", Status: "done"}, {Text: "find the reason", Status: "done"}, {Text: "mend and test", Status: "done"}}}
	s.add(schemas.TypePlanUpdated, &recountv1.AgentEvent{Plan: done})
	patch := s.add(schemas.TypeArtifact, &recountv1.AgentEvent{CausedBy: []string{fix}, Artifact: &recountv1.ArtifactProduced{
		Uri: task + ".patch", MediaType: "text/x-diff", Content: fmt.Sprintf("--- a/%s\n+++ b/%s\n+%s\n", file, file, t.fix),
	}})
	s.add(schemas.TypeTaskFinished, &recountv1.AgentEvent{Task: &recountv1.Task{Id: task, Outcome: "succeeded"}, CausedBy: []string{passed}})

	q := func(kind, text string, chain []string, evidence ...string) {
		g.ask(kind, s.workspace, text, time.Time{}, chain, evidence...)
	}
	name := g.called(c)
	q("cause", pick(g, []string{
		fmt.Sprintf("Why is it that %s %s?", name, t.asked),
		fmt.Sprintf("What was the reason when %s %s?", name, t.asked),
	}), []string{asked, call, failed, found}, failed, found)
	q("remedy", pick(g, []string{
		fmt.Sprintf("How was it put right that %s %s?", name, t.asked),
		fmt.Sprintf("%s %s: what did somebody change, and did it help?", name, t.asked),
	}), []string{failed, found, fix, passed}, fix, passed)
	if n%2 == 0 {
		q("error", fmt.Sprintf("What was behind %q?", t.printed), []string{call, failed, found}, failed, found)
	}
	if n%3 == 0 {
		q("origin", fmt.Sprintf("What led to %s.patch?", task), []string{failed, found, fix, patch}, patch, fix, found, asked)
	}
}

// quietSession adds a session in which nothing notable happens, about the same components.
func (g *generator) quietSession() {
	c := pick(g, components)
	s := g.open(workspaces[slices.Index(components, c)%len(workspaces)])
	s.add(schemas.TypeUserMessage, &recountv1.AgentEvent{Text: fmt.Sprintf("Please have a look at the %s.", c.name)})
	for range 2 + g.rng.IntN(5) {
		if g.rng.IntN(2) == 0 {
			s.errand(c, pick(g, troubles).file)
			continue
		}
		s.add(schemas.TypeAssistantMessage, &recountv1.AgentEvent{Text: fmt.Sprintf(pick(g, talk), "the "+c.name)})
	}
}

// facts adds facts that are stated, changed, repeated and contradicted.
func (g *generator) facts(n int) {
	for i := range n {
		f := facts[i%len(facts)]
		workspace := workspaces[(i/len(facts))%len(workspaces)]
		if i/len(facts) >= len(workspaces) {
			break // each once in each workspace
		}
		g.fact(f, workspace)
	}
}

// fact adds the history of one fact in one workspace.
func (g *generator) fact(f fact, workspace string) {
	values := slices.Clone(f.values)
	g.rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	at := start.Add(time.Duration(g.rng.Int64N(int64(5 * 24 * time.Hour)))).Truncate(time.Second)
	state := func(value, text, supersedes string) string {
		s := g.open(workspace)
		s.at = at
		s.add(schemas.TypeUserMessage, &recountv1.AgentEvent{Text: "Something to keep in mind."})
		m := &recountv1.AgentEvent{Text: fmt.Sprintf(text, value)}
		if g.rng.IntN(2) == 0 {
			m.Memory = &recountv1.Statement{Kind: recountv1.MemoryKind_MEMORY_KIND_FACTUAL, Subject: f.subject, Predicate: f.predicate, Value: value}
		}
		if supersedes != "" && g.rng.IntN(3) == 0 {
			m.Relations = []*recountv1.Relation{{Kind: "supersedes", EventId: supersedes}}
		}
		id := s.add(schemas.TypeMemoryStated, m)
		at = at.Add(time.Duration(3+g.rng.IntN(9)) * 24 * time.Hour)
		return id
	}
	first := state(values[0], f.stated, "")
	again := state(values[0], f.restated, "")
	unchanged := at.Add(-time.Hour) // before the next one
	second := state(values[1], pick(g, []string{f.stated, f.restated}), first)
	switch g.rng.IntN(3) {
	case 0: // it stays contradicted: two say different things within the hour
		at = at.Add(-72 * time.Hour)
		third := state(values[2], f.stated, "")
		at = at.Add(time.Hour)
		g.ask("contradiction", workspace, "Do we disagree about this? "+f.asked, time.Time{}, nil, second, third)
	case 1:
		third := state(values[2], f.restated, second)
		g.ask("change", workspace, "What was it before, and what is it now? "+f.asked, time.Time{}, nil, second, third)
		g.ask("fact", workspace, f.asked, time.Time{}, nil, third)
	default:
		g.ask("fact", workspace, f.asked, time.Time{}, nil, second)
	}
	g.d.questions = append(g.d.questions, question{
		ID: fmt.Sprint("q-", len(g.d.questions)+1), Kind: "fact as of", Text: f.asked, Workspace: workspace, AsOf: unchanged, Evidence: [][]string{{first, again}},
	})
}

func (g *generator) ask(kind, workspace, text string, asOf time.Time, chain []string, evidence ...string) {
	q := question{ID: fmt.Sprint("q-", len(g.d.questions)+1), Kind: kind, Text: text, Workspace: workspace, AsOf: asOf, Chain: chain}
	for _, id := range evidence {
		q.Evidence = append(q.Evidence, []string{id})
	}
	g.d.questions = append(g.d.questions, q)
}
