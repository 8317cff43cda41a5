package plan

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/edits"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Narrative is the input of Make: the commands, and what was recorded about them.
type Narrative struct {
	Goal replay.Goal
	// Commands are in any order. Runs are other commands of the workspace: values that differ between
	// runs of the same template become parameters.
	Commands, Runs []commands.Scanned
	// Goals are the commands that the plan ends with. If there are none, the goal is everything that
	// the commands left behind.
	Goals []schemas.EventID
	// Env are recorded environments by context hash, and Home the home directories that were recorded.
	Env  map[string]map[string]string
	Home map[string]string
	// Files are the SHA-256 sums of the files that a command left when it was recorded, by path.
	Files map[schemas.EventID]map[string]string
	// Seen are the files that changed while a command ran, if its recorder looked.
	Seen map[schemas.EventID]Seen
	// Apart has the commands that ran in a shell of their own.
	Apart map[schemas.EventID]bool
	// Earlier has those of Commands that ran before the narrative and only told its shell something: they are steps only
	// if others need them. Setters told it something and did something else.
	Earlier map[schemas.EventID]bool
	Setters []setter
	// Changes are the changes of files that commands of agents stand for, and Unwritten says of the others why their texts
	// are not there.
	Changes   map[schemas.EventID]agenttool.Change
	Unwritten map[schemas.EventID]string
	// Replayed are the steps of earlier replays that changed real directories, the latest run first.
	Replayed  []replays.Did
	Missing   []replay.Missing
	Watermark schemas.Watermark
	// More means that there were more commands than the limit.
	More bool
}

// Answer reads the commands that a request names and makes their plan. An error is a
// *query.RequestError, a *query.NotFoundError, a *query.AmbiguousError, a *query.NotVisibleError, a
// *replay.CycleError, the context's, or one of the projections.
func Answer(ctx context.Context, s commands.Sources, r Request) (Response, error) {
	r, err := r.Normal()
	if err != nil {
		return Response{}, err
	}
	n, err := read(ctx, s, r)
	if err != nil {
		return Response{}, err
	}
	p, err := Make(n, r)
	if err != nil {
		return Response{}, err
	}
	resp := Response{Status: query.StatusOK, Plan: p}
	for i := range p.Steps {
		if st := &p.Steps[i]; len(st.Danger) > 0 {
			hash, err := st.Hash()
			if err != nil {
				return Response{}, err
			}
			resp.Agree = append(resp.Agree, Agree{st.Index, hash})
		}
	}
	switch {
	case len(n.Commands) == 0:
		resp.Status, resp.Hint = query.StatusEmpty, "no command was found; recount find lists what is recorded"
	case len(p.Steps) == 0:
		resp.Status, resp.Hint = query.StatusEmpty, "no command has to be run: left_out says why; all keeps them"
	case n.More:
		resp.Hint = fmt.Sprintf("only the newest %d commands were looked at; raise limit", r.Limit)
	}
	return resp, nil
}

// reader reads the narrative of a normal request.
type reader struct {
	ctx context.Context
	s   commands.Sources
	r   Request
	n   Narrative
	g   commands.Gathered // what gather read last
	// mending is what a plan of how a failure was mended may end with.
	mending *mending
}

// read reads the narrative of a normal request.
func read(ctx context.Context, s commands.Sources, r Request) (Narrative, error) {
	d := reader{ctx: ctx, s: s, r: r}
	var err error
	switch {
	case r.To != "":
		err = d.to()
	case r.Mend != "":
		err = d.mend()
	case r.Session != "":
		err = d.session()
	case r.Stitch != "":
		err = d.stitch()
	default:
		err = d.find()
	}
	n := d.n
	if err != nil {
		return n, err
	}
	n.Commands, n.Watermark, n.More = d.g.Commands, d.g.Watermark, d.g.More
	if err := n.runs(ctx, s, r); err != nil {
		return n, err
	}
	if err := n.events(ctx, s); err != nil {
		return n, err
	}
	if d.mending != nil {
		n.mend(d.mending)
	}
	ids := make([]schemas.EventID, len(n.Commands))
	for i, c := range n.Commands {
		ids[i] = c.ID
	}
	n.Replayed, err = replays.Left(ctx, s.Set, ids, n.Watermark)
	return n, err
}

// gather reads the commands that filters choose, or those at positions.
func (d *reader) gather(f commands.Filters, at []schemas.Position) (err error) {
	d.g, err = commands.Gather(d.ctx, d.s, f, at, d.r.Moment, d.r.Limit)
	return err
}

// one reads the command that a text refers to.
func (d *reader) one(ref string) (commands.Scanned, error) {
	at, err := commands.Locate(d.ctx, d.s, ref, d.r.Moment)
	if err != nil {
		return commands.Scanned{}, err
	}
	g, err := commands.Gather(d.ctx, d.s, commands.Filters{}, []schemas.Position{at}, d.r.Moment, 1)
	if err == nil && len(g.Commands) != 1 {
		err = fmt.Errorf("command at %s: located but not read: run recount verify", at)
	}
	if err != nil {
		return commands.Scanned{}, err
	}
	return g.Commands[0], nil
}

// to reads what came before a command, and what led to it.
func (d *reader) to() error {
	to, err := d.one(d.r.To)
	if err != nil {
		return err
	}
	d.n.Goal = replay.Goal{Kind: "command", What: to.Command}
	d.n.Goals = []schemas.EventID{to.ID}
	before, err := d.ledTo(to)
	if err != nil {
		return err
	}
	if err := d.gather(upTo(to), before); err != nil {
		return err
	}
	at := slices.IndexFunc(d.g.Commands, func(c commands.Scanned) bool { return c.ID == to.ID })
	d.g.Commands = d.g.Commands[:at+1]
	return nil
}

// session reads a session, or a part of it.
func (d *reader) session() error {
	f := commands.Filters{Session: d.r.Session}
	var from commands.Scanned
	if d.r.From != "" {
		var err error
		if from, err = d.one(d.r.From); err != nil {
			return err
		}
		f.Since = from.Time
	}
	if d.r.Until != "" {
		until, err := d.one(d.r.Until)
		if err != nil {
			return err
		}
		f.Until = until.Time.Add(1)
	}
	d.n.Goal = replay.Goal{Kind: "session", What: d.r.Session}
	if err := d.gather(f, nil); err != nil || d.r.From == "" || len(d.g.Commands) == 0 {
		return err
	}
	return d.earlier(from)
}

// stitch reads the commands of the narrative around one.
func (d *reader) stitch() error {
	r := d.r
	resp, err := commands.StitchQuestion.Ask(d.ctx, local{d.s}, commands.StitchRequest{Ref: r.Stitch, Walk: commands.Walk{Nodes: min(r.Limit, commands.MaxNodes)}, Moment: r.Moment})
	if err != nil {
		return err
	}
	var at []schemas.Position
	for _, node := range resp.Nodes {
		at = append(at, node.Position)
	}
	d.n.Goal = replay.Goal{Kind: "stitch", What: r.Stitch}
	return d.gather(commands.Filters{}, at)
}

// find reads the commands that a search finds.
func (d *reader) find() error {
	r := d.r
	resp, err := commands.FindQuestion.Ask(d.ctx, local{d.s}, commands.FindRequest{Text: r.Find, Filters: r.Filters, Repeats: true, Limit: min(r.Limit, commands.MaxLimit), AtLeast: r.AtLeast, WaitMS: r.WaitMS, AsOf: r.AsOf})
	if err != nil {
		return err
	}
	var at []schemas.Position
	for _, h := range resp.Hits {
		at = append(at, h.Position)
	}
	d.n.Goal = replay.Goal{Kind: "find", What: r.Find}
	return d.gather(commands.Filters{}, at)
}

// local answers questions about commands from their sources.
type local struct{ s commands.Sources }

func (l local) Answer(ctx context.Context, path string, request, response any) error {
	return commands.Questions.Answer(ctx, l.s, path, request, response)
}

// upTo returns the filters for a command and those before it in its session, or in its workspace if it
// has no session.
func upTo(c commands.Scanned) commands.Filters {
	f := commands.Filters{Session: c.Session, Until: c.Time.Add(1)}
	if c.Session == "" {
		f.Workspace = c.Workspace
	}
	return f
}

// ledTo returns the positions of a command and of those that led to it, in other sessions too, because
// they wrote what it reads or caused it.
func (d *reader) ledTo(to commands.Scanned) ([]schemas.Position, error) {
	resp, err := commands.WhyQuestion.Ask(d.ctx, local{d.s}, commands.WhyRequest{
		Ref: to.ID.String(), Limit: commands.MaxNodes, Moment: d.r.Moment,
		Walk: commands.Walk{Depth: commands.MaxDepth, Nodes: commands.MaxNodes, Kinds: []string{"dependency", "causal"}, MinWeight: 0.4},
	})
	if err != nil {
		return nil, err
	}
	at := []schemas.Position{to.Position}
	for _, c := range resp.Causes {
		at = append(at, c.Position)
	}
	return at, nil
}

// runs reads other runs in the same workspace.
func (n *Narrative) runs(ctx context.Context, s commands.Sources, r Request) error {
	workspaces := map[string]int{}
	best := ""
	for _, c := range n.Commands {
		if workspaces[c.Workspace]++; best == "" || workspaces[c.Workspace] > workspaces[best] {
			best = c.Workspace
		}
	}
	if best == "" {
		return nil
	}
	g, err := commands.Gather(ctx, s, commands.Filters{Workspace: best}, nil, query.Moment{WaitMS: r.WaitMS, AsOf: r.AsOf}, 1000)
	n.Runs = g.Commands
	return err
}

const (
	// maxGaps is how many events between the commands of a session are read, to see whether they were
	// erased, and before how many of those ahead of the first command.
	maxGaps = 128
	before  = 8
	// maxContexts is how many environments are kept.
	maxContexts = 256
)

// events reads from the log what the projections do not have: environments, the hashes of written
// files, and which events were erased.
func (n *Narrative) events(ctx context.Context, s commands.Sources) error {
	if s.Event == nil {
		return nil
	}
	n.Env, n.Home, n.Files = map[string]map[string]string{}, map[string]string{}, map[schemas.EventID]map[string]string{}
	n.Seen, n.Apart = map[schemas.EventID]Seen{}, map[schemas.EventID]bool{}
	var changes []edits.Edit
	used := map[schemas.Position]bool{}
	ends := map[schemas.TopicPartition][2]int64{}
	for _, c := range n.Commands {
		used[c.Position] = true
		if c.Outcome != nil {
			used[*c.Outcome] = true
			m, _, err := decoded(ctx, s, *c.Outcome)
			if err != nil {
				return err
			}
			if o, ok := m.(*recountv1.OutcomeObserved); ok {
				n.files(c.ID, o)
				n.saw(c.ID, o.GetChanges())
			}
		}
		tp := c.Position.TP()
		if e, ok := ends[tp]; ok {
			ends[tp] = [2]int64{min(e[0], c.Position.Offset), max(e[1], c.Position.Offset)}
		} else {
			ends[tp] = [2]int64{c.Position.Offset, c.Position.Offset}
		}
		m, source, err := decoded(ctx, s, c.Position)
		if err != nil {
			return err
		}
		p, ok := m.(*recountv1.CommandExecuted)
		if !ok {
			continue
		}
		n.saw(c.ID, p.GetChanges())
		if inOwnShell(source) {
			n.Apart[c.ID] = true
		}
		if byTool(source) && standsForFile(c.Command) {
			changes = append(changes, edits.Edit{ID: c.ID, Command: c.Command, Parent: p.ParentEventId, Session: c.Session})
		}
		if _, known := n.Env[c.ContextHash]; !known && len(n.Env) < maxContexts {
			n.Env[c.ContextHash], n.Home[c.ContextHash] = p.Env, p.Home
		}
	}
	if err := n.fileChanges(ctx, s, changes); err != nil {
		return err
	}
	if n.Goal.Kind != "session" && n.Goal.Kind != "command" {
		return nil
	}
	tps := make([]schemas.TopicPartition, 0, len(ends))
	for tp := range ends {
		tps = append(tps, tp)
	}
	slices.SortFunc(tps, func(a, b schemas.TopicPartition) int { return a.Compare(b) })
	read := 0
	for _, tp := range tps {
		first := ends[tp][0]
		if n.Goal.Kind == "command" {
			first = max(0, first-before) // what it needed may have been all there was before
		}
		for at := first; at <= ends[tp][1]; at++ {
			p := schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: at}
			if used[p] {
				continue
			}
			if read++; read > maxGaps {
				return nil
			}
			lr, err := s.Event(ctx, p)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var erased *query.ErasedError
			_, gone := lr.Erased()
			if err == nil && gone || errors.As(err, &erased) {
				text := "an event between these commands was erased; if it was a command, the plan is without it"
				if at < ends[tp][0] {
					text = "an event before these commands was erased; if it was a command that they need, the plan is without it"
				}
				n.Missing = append(n.Missing, replay.Missing{Ref: p.String(), Text: text})
			}
		}
	}
	return nil
}

// files stores the hashes of the files that an outcome lists.
func (n *Narrative) files(id schemas.EventID, o *recountv1.OutcomeObserved) {
	for _, f := range o.GetFiles() {
		if f.GetRemoved() || len(f.GetSha256()) == 0 {
			continue
		}
		if n.Files[id] == nil {
			n.Files[id] = map[string]string{}
		}
		n.Files[id][f.GetPath()] = hex.EncodeToString(f.GetSha256())
	}
}

// decoded reads the payload of an event, and its source. It returns nil for one that is gone or cannot be
// decoded, because a plan can do without it; an error is the context's.
func decoded(ctx context.Context, s commands.Sources, at schemas.Position) (proto.Message, string, error) {
	lr, err := s.Event(ctx, at)
	if err != nil {
		return nil, "", ctx.Err()
	}
	e, err := lr.Event()
	if err != nil {
		return nil, "", nil
	}
	m, err := e.DecodePayload()
	if err != nil {
		return nil, "", nil
	}
	return m, e.Source, nil
}

// sorted returns commands in the order in which they ran, without repeats.
func sorted(all []commands.Scanned) []commands.Scanned {
	out := slices.Clone(all)
	slices.SortFunc(out, func(x, y commands.Scanned) int {
		return cmp.Or(x.Time.Compare(y.Time), x.Position.Compare(y.Position))
	})
	return slices.CompactFunc(out, func(x, y commands.Scanned) bool { return x.ID == y.ID })
}
