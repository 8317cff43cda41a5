package local

import (
	"context"
	"slices"

	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/replays"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/projections/vector"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/commands/ask"
)

// Directory answers questions about commands from a data directory. It opens the directory at the first
// question, with the projections that the question reads, and again for a later one that reads more.
type Directory struct {
	path  string
	node  *node
	names []string // of the projections that are open
}

// At returns a Directory at a path. Nothing is opened yet.
func At(path string) *Directory { return &Directory{path: path} }

// Answer answers the question of a path of the API; response is a pointer.
func (d *Directory) Answer(ctx context.Context, path string, request, response any) error {
	s, err := d.sources(ctx, reads(request))
	if err != nil {
		return err
	}
	return commands.Questions.Answer(ctx, s, path, request, response)
}

// Show returns a command by its id, a prefix of it, or its position.
func (d *Directory) Show(ctx context.Context, ref string) (ask.ShowResponse, error) {
	s, err := d.sources(ctx, told)
	if err != nil {
		return ask.ShowResponse{}, err
	}
	return commands.Show(ctx, s, ref)
}

// Close releases the data directory, if it was opened.
func (d *Directory) Close() error {
	n := d.node
	d.node, d.names = nil, nil
	if n == nil {
		return nil
	}
	return n.close()
}

// counted, told and found are what questions read: those that count commands, those that tell what
// led to one, and those that search.
var (
	counted = []string{segment.Name, narrative.Name}
	told    = append([]string{replays.Name}, counted...)
	found   = append([]string{lexical.Name, vector.Name}, counted...)
)

// reads returns the projections that a question reads.
func reads(request any) []string {
	similar := func(w ask.Walk) []string {
		if slices.Contains(w.Kinds, narrative.Similar.String()) {
			return append([]string{vector.Name}, told...)
		}
		return told
	}
	switch r := request.(type) {
	case ask.FindRequest:
		names := counted
		if r.Text != "" {
			names = found
		}
		if r.Replayed {
			return append([]string{replays.Name}, names...)
		}
		return names
	case ask.WhyRequest:
		return similar(r.Walk)
	case ask.StitchRequest:
		return similar(r.Walk)
	case ask.DiffRequest:
		return similar(r.Walk)
	}
	return counted
}

// sources returns the sources of a question that reads some projections.
func (d *Directory) sources(ctx context.Context, names []string) (commands.Sources, error) {
	missing := slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(d.names, name) })
	if missing {
		names = append(slices.Clone(d.names), names...)
		if err := d.Close(); err != nil {
			return commands.Sources{}, err
		}
		n, err := open(ctx, d.path, names...)
		if err != nil {
			return commands.Sources{}, err
		}
		d.node, d.names = n, names
	}
	return commands.Sources{Set: d.node.set, Embedder: d.node.chain.Embedder, Concepts: embed.Concepts, Event: d.node.log.Read, Events: d.node.log.ReadEach}, nil
}
