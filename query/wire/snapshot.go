package wire

import (
	"strings"

	"github.com/recountdb/recount/query/code"
)

// maxChanged is the number of changed files that the text of a snapshot names: a first commit changes all.
const maxChanged = 20

// snapshot has what a snapshot holds, without the hashes of its maps, which a model cannot check.
func (p *Payload) snapshot(a code.SnapshotResponse) {
	p.revision("at", a.Revision)
	p.Set("time", moment(a.Revision.Time))
	p.Set("author", a.Revision.Author)
	p.Set("files", count(a.Files.Total))
	p.Set("symbols", count(a.Symbols.Total))
	p.Set("edges", count(a.Edges.Total))
	p.Set("outside", count(a.Outside.Total))
	p.Set("unresolved", count(a.Unresolved))
	p.Set("changed", count(len(a.Changed)))
	p.basis(a.Basis)
	l := p.List("commit", "parents")
	var parents []string
	for _, c := range a.Parents {
		parents = append(parents, c[:min(shortCommit, len(c))])
	}
	l.Add(Node{Kind: "message", Text: strings.TrimSpace(a.Message)}, strings.Join(parents, ","))
	for _, part := range []struct {
		name string
		of   code.Counted
	}{{"files", a.Files}, {"symbols", a.Symbols}, {"edges", a.Edges}, {"outside", a.Outside}} {
		l := p.List(part.name, "of", "count")
		for _, of := range part.of.Most() {
			l.Join(nil, of, count(part.of.By[of]))
		}
	}
	l = p.List("changed")
	for _, path := range a.Changed[:min(len(a.Changed), maxChanged)] {
		l.Add(Node{Kind: "file", Path: path})
	}
	l = p.List("partial", "file")
	for _, of := range a.Partial {
		l.Join(nil, of)
	}
}
