package wire

import "github.com/recountdb/recount/query"

// announced adds who has announced work on what the answer names.
func (p *Payload) announced(all []query.Announcement) {
	l := p.List("announced", "agent", "since", "until", "workspace", "why")
	for _, a := range all {
		l.Add(Node{ID: a.Position, Kind: "announced", Name: a.Subject}, a.Agent, moment(a.Since), moment(a.Until), a.Workspace, a.Why)
	}
}
