package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// MaxInsightCommands is the maximum number of commands that insights reads, the newest that
// pass the filters; each needs about 60 bytes. MaxInsightTexts is the maximum number of
// distinct templates, and of sessions, that it distinguishes, newest first: commands with
// further templates are counted, but belong to no pattern.
const (
	MaxInsightCommands = 1 << 20
	MaxInsightTexts    = 1 << 17
	// maxTextBytes bounds the memory of the templates.
	maxTextBytes = 32 << 20
	// sessionGap ends the session of commands that were recorded without one.
	sessionGap = 30 * time.Minute
)

// none is the number of a template or a session beyond MaxInsightTexts.
const none int32 = -1

// run has the fields of a command that patterns need.
type run struct {
	time      int64
	offset    int64
	shard     int32
	template  int32
	session   int32
	workspace int32
	exit      int32
	known     bool // whether exit is, and says something
	failed    bool
}

// runs are the commands in which patterns are searched, newest first: by time, then by
// position, over all partitions.
type runs struct {
	list                 []run
	shards               []schemas.TopicPartition
	template, workspaces texts
	// order has the runs by session, oldest first; those without a session come first. from
	// has the start of each session.
	order []int32
	from  []int32
	// failures are the failed runs, newest first, with their outputs.
	failures  []failure
	signature texts

	read   int64
	capped bool // by MaxInsightCommands
}

// failure is a failed run. It is fixed if the next run of its template in its workspace with a known
// outcome succeeded, whether or not that run passes a filter of outcomes.
type failure struct {
	run, signature int32
	fixed          bool
}

// ground is a template in a workspace, by their numbers.
type ground struct{ template, workspace int32 }

// noSignature is the signature of an empty output.
const noSignature int32 = 0

// texts assigns numbers to distinct texts.
type texts struct {
	num    map[string]int32
	all    []string
	bytes  int
	capped bool
}

// number returns a text's number, or none if the limit is reached. The text may be a view.
func (t *texts) number(s string) int32 {
	if n, ok := t.num[s]; ok {
		return n
	}
	if len(t.all) >= MaxInsightTexts || t.bytes+len(s) > maxTextBytes {
		t.capped = true
		return none
	}
	s = strings.Clone(s)
	n := int32(len(t.all))
	if t.num == nil {
		t.num = map[string]int32{}
	}
	t.num[s], t.all, t.bytes = n, append(t.all, s), t.bytes+len(s)
	return n
}

// find returns a text's number, or none if it has none.
func (t *texts) find(s string) int32 {
	if n, ok := t.num[s]; ok {
		return n
	}
	return none
}

func (r *runs) position(i int32) schemas.Position {
	x := &r.list[i]
	tp := r.shards[x.shard]
	return schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: x.offset}
}

// indexAt returns the index of the run at a position, or none.
func (r *runs) indexAt(pos schemas.Position) int32 {
	for i := range r.list {
		if r.list[i].offset == pos.Offset && r.shards[r.list[i].shard] == pos.TP() {
			return int32(i)
		}
	}
	return none
}

// sessionKey identifies a session. Commands recorded without one belong to a period of work
// of their host, user and workspace.
type sessionKey struct{ host, session, user, workspace string }

// runBuilder builds runs from rows.
type runBuilder struct {
	*runs
	a         *session
	sessions  map[sessionKey]stretch
	nSessions int32
	shard     map[schemas.TopicPartition]int32
	// worked has whether the next known run, seen backwards, succeeded. templates and places number
	// its keys: those of the runs themselves, unless a filter of outcomes leaves some out.
	worked            map[ground]bool
	templates, places *texts
}

// stretch is a session that is being read, backwards.
type stretch struct {
	id   int32
	time int64 // of its earliest command so far
}

// gather reads at most `most` of the newest commands that pass the filters, in one pass.
func gather(a *session, f Filters, most int) (*runs, error) {
	g := runBuilder{runs: &runs{}, a: a, sessions: map[sessionKey]stretch{}, shard: map[schemas.TopicPartition]int32{}, worked: map[ground]bool{}}
	g.signature.number("") // noSignature
	exit, err := ask.ParseExit(f.Exit)
	if err != nil {
		return nil, err
	}
	g.templates, g.places = &g.template, &g.workspaces
	if exit.Set {
		f.Exit = "" // the success that fixes a failure is seen, too
		g.templates, g.places = &texts{}, &texts{}
	}
	var inner error
	err = a.segment.Scan(a.Ctx, pushed(f, a.as, a.Visible), segment.NewestFirst, func(v *segment.View) bool {
		g.read++
		if len(g.list) == most {
			g.capped = true
			return false
		}
		inner = g.add(v, exit)
		return inner == nil
	})
	if inner != nil {
		return nil, inner
	}
	if err != nil {
		return nil, err
	}
	g.link()
	return g.runs, nil
}

// add adds a row that passes all filters except exit.
func (g *runBuilder) add(v *segment.View, exit ask.ExitFilter) error {
	r := run{time: v.UnixNano(), offset: v.Offset()}
	tail := ""
	if code, known := v.ExitCode(); known {
		r.exit, r.known = code, true
	} else {
		o, ok, err := g.a.outcome(v.ID())
		if err != nil {
			return err
		}
		if ok && o.ExitCode != nil {
			r.exit, r.known, tail = *o.ExitCode, true, o.OutputTail
		}
	}
	var code *int32
	if r.known {
		code = &r.exit
		result := resultOf(r.exit, v)
		r.known, r.failed = result != narrative.Interrupted, result == narrative.Failure
	}
	fixed := g.fixed(v, &r)
	if exit.Set && !exit.Match(code) {
		return nil
	}
	tp := v.Position().TP()
	n, ok := g.shard[tp]
	if !ok {
		n = int32(len(g.shards))
		g.shard[tp], g.shards = n, append(g.shards, tp)
	}
	r.shard = n
	r.template = g.template.number(v.Template())
	r.workspace = g.workspaces.number(v.Workspace())
	r.session = g.sessionOf(v, r.time)
	if r.failed && r.template != none {
		if own := v.OutputTail(); own != "" {
			tail = own
		}
		f := failure{int32(len(g.list)), g.signature.number(signature(tail)), fixed}
		if f.signature == none {
			f.signature = noSignature
		}
		g.failures = append(g.failures, f)
	}
	g.list = append(g.list, r)
	return nil
}

// resultOf returns what an exit code says of a row's command.
func resultOf(code int32, v *segment.View) narrative.Result {
	last := ""
	for program := range v.Programs() {
		last = program
	}
	return narrative.ResultOf(code, last)
}

// fixed notes how a run ended, and reports whether the next run of its template in its workspace worked.
func (g *runBuilder) fixed(v *segment.View, r *run) bool {
	if !r.known {
		return false
	}
	at := ground{g.templates.number(v.Template()), g.places.number(v.Workspace())}
	if at.template == none {
		return false
	}
	worked := g.worked[at]
	g.worked[at] = !r.failed
	return worked && r.failed
}

func (g *runBuilder) sessionOf(v *segment.View, at int64) int32 {
	key := sessionKey{host: v.Host(), session: v.Session()}
	named := key.session != ""
	if !named {
		key.user, key.workspace = v.User(), v.Workspace()
	}
	s, ok := g.sessions[key]
	fresh := !ok || !named && s.time-at > int64(sessionGap)
	if !ok {
		if len(g.sessions) >= MaxInsightTexts {
			return none
		}
		key = sessionKey{strings.Clone(key.host), strings.Clone(key.session), strings.Clone(key.user), strings.Clone(key.workspace)}
	}
	if fresh {
		s.id = g.nSessions
		g.nSessions++
	}
	if fresh || !named {
		s.time = at
		g.sessions[key] = s
	}
	return s.id
}

// link orders the runs by session.
func (g *runBuilder) link() {
	g.from = make([]int32, g.nSessions+2)
	for i := range g.list {
		g.from[g.list[i].session+2]++
	}
	for i := 1; i < len(g.from); i++ {
		g.from[i] += g.from[i-1]
	}
	g.order = make([]int32, len(g.list))
	// from[s+1] is the start of session s, and while filling its next free place.
	for i := len(g.list) - 1; i >= 0; i-- {
		at := &g.from[g.list[i].session+1]
		g.order[*at] = int32(i)
		*at++
	}
}

// eachSession calls fn with each session's runs, oldest first.
func (r *runs) eachSession(fn func(session int32, of []int32)) {
	for s := range int32(len(r.from)) - 2 {
		fn(s, r.order[r.from[s]:r.from[s+1]])
	}
}

// step returns the proof step for what was read.
func (r *runs) step(most int) query.Step {
	s := query.Step{
		Operator: "scan", Inputs: map[string]string{"order": "newest first", "most": fmt.Sprint(most)},
		Counts: map[string]int64{
			"read": r.read, "commands": int64(len(r.list)),
			"templates": int64(len(r.template.all)), "sessions": int64(len(r.from) - 2),
		},
	}
	if r.capped {
		s.Inputs["capped"] = "older commands were left out"
	}
	if r.template.capped {
		s.Inputs["templates_capped"] = fmt.Sprintf("patterns cover only the first %d templates read", len(r.template.all))
	}
	return s
}
