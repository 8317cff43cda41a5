package wire

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// shortID is how much of an event's id is written: its time, and enough to be unambiguous.
const shortID = 18

// eventID returns the id of an event as references accept it.
func eventID(id schemas.EventID) string { return id.String()[:shortID] }

// command returns the node of a command.
func command(c commands.Intent) Node {
	return Node{ID: eventID(c.ID), Kind: "command", Name: c.Command}
}

// commandColumns are those of lists of commands, after the list's own.
var commandColumns = []string{"time", "exit", "took", "cwd", "author"}

func commandValues(c commands.Intent, before ...string) []string {
	exit, took, at := "", "", moment(c.Time)
	if c.ExitCode != nil {
		exit = strconv.Itoa(int(*c.ExitCode))
	}
	if c.Duration != nil {
		took = strings.ReplaceAll(query.Took(time.Duration(*c.Duration)), " ", "") // one word
	}
	if c.Untimed {
		at = ""
	}
	return append(before, at, exit, took, c.Cwd, c.Author)
}

// Commands adds a list of commands.
func (p *Payload) Commands(name string, all []commands.Intent) {
	l := p.List(name, commandColumns...)
	for _, c := range all {
		l.Add(command(c), commandValues(c)...)
	}
}

func (p *Payload) find(a commands.FindResponse) {
	p.basis(query.Basis{Status: a.Status, Hint: a.Hint})
	l := p.List("read_as", "as", "kind")
	for _, v := range a.Variants {
		l.Add(Node{Kind: "word", Name: v.Word}, strings.Join(v.As, ","), v.Kind)
	}
	var hits []commands.Intent
	for _, h := range a.Hits {
		hits = append(hits, h.Intent)
	}
	p.Commands("commands", hits)
}

func (p *Payload) why(a commands.WhyResponse) {
	p.basis(a.Basis)
	p.Commands("command", []commands.Intent{a.Root})
	l := p.List("causes", append([]string{"confidence", "score", "depth", "why"}, commandColumns...)...)
	for _, c := range a.Causes {
		l.Add(command(c.Intent), commandValues(c.Intent, number(c.Confidence), number(c.Score), count(c.Depth), c.Why)...)
	}
	if len(a.Fixes) > 0 {
		l = p.List("fixes", append([]string{"why"}, commandColumns...)...)
		for _, f := range a.Fixes {
			l.Add(command(f.Intent), commandValues(f.Intent, f.Why)...)
		}
	}
}

func (p *Payload) stitch(a commands.StitchResponse) {
	p.Set("root", eventID(a.Root))
	p.Set("truncated", flag(a.Truncated))
	p.basis(a.Basis)
	nodes := map[schemas.EventID]Node{}
	l := p.List("commands", append([]string{"depth"}, commandColumns...)...)
	for _, n := range a.Nodes {
		nodes[n.ID] = command(n.Intent)
		l.Add(nodes[n.ID], commandValues(n.Intent, count(n.Depth))...)
	}
	l = p.List("edges", "kind", "weight", "shows")
	for _, e := range a.Edges {
		var shows []string
		for _, x := range e.Evidence {
			shows = append(shows, strings.TrimSpace(x.Shows+" "+x.Resource))
		}
		l.Join([]Node{nodes[e.From], nodes[e.To]}, e.Kind, number(e.Weight), strings.Join(shows, "; "))
	}
}

func (p *Payload) show(a commands.ShowResponse) {
	c := command(a.Intent)
	c.Text = strings.TrimRight(a.OutputTail, "\n")
	parent := ""
	if a.ParentID != nil {
		parent = eventID(*a.ParentID)
	}
	for _, s := range []Scalar{
		{"stated_intent", a.StatedIntent},
		{"workspace", a.Workspace},
		{"session", a.Session},
		{"host", a.Host},
		{"user", a.User},
		{"shell", a.Shell},
		{"template", a.Template},
		{"category", a.Category},
		{"git_head", a.GitHead},
		{"parent", parent},
		{"programs", strings.Join(a.Programs, ",")},
	} {
		p.Set(s.Name, s.Value)
	}
	p.List("command", commandColumns...).Add(c, commandValues(a.Intent)...)
	l := p.List("resources", "access")
	for _, r := range a.Resources {
		l.Add(Node{Kind: r.Kind, Name: r.Name}, r.Access)
	}
	if c := a.Changes; c != nil {
		p.Set("looked_below", c.Below)
		p.Set("changed_files", strconv.Itoa(len(c.Files)))
		l := p.List("changed", "change")
		for _, f := range c.Files[:min(len(c.Files), maxShownFiles)] {
			l.Add(Node{Kind: "path", Name: f.Path}, f.Change)
		}
	}
}

// maxShownFiles is the maximum number of changed files that the text of a command lists.
const maxShownFiles = 10

func (p *Payload) insights(a commands.InsightsResponse) {
	p.Set("commands", count(a.Commands))
	p.basis(a.Basis)
	l := p.List("templates", "runs", "failed", "sessions", "last")
	for _, t := range a.Templates {
		l.Add(Node{Kind: "template", Name: t.Template}, count(t.Runs), count(t.Failed), count(t.Sessions), moment(t.Last))
	}
	l = p.List("sequences", "runs", "sessions", "lift")
	for _, s := range a.Sequences {
		var nodes []Node
		for _, t := range s.Templates {
			nodes = append(nodes, Node{Kind: "template", Name: t})
		}
		l.Join(nodes, count(s.Runs), count(s.Sessions), number(s.Lift))
	}
	l = p.List("failures", "exit", "runs", "sessions", "fixed", "last", "signature")
	for _, f := range a.Failures {
		l.Add(Node{Kind: "template", Name: f.Template}, fmt.Sprint(f.ExitCode), count(f.Runs), count(f.Sessions), count(f.Fixed), moment(f.Last), f.Signature)
	}
	if a.After != nil {
		p.Commands("after", []commands.Intent{*a.After})
	}
	l = p.List("next", "probability", "times", "of", "given")
	for _, n := range a.Next {
		l.Add(Node{Kind: "command", Name: n.Command}, number(n.Probability), count(n.Times), count(n.Of), n.Given)
	}
}
