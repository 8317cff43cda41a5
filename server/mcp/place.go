package mcp

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Place is the repository and the workspace of a directory.
type Place struct {
	// Repo is the name of the repository as import gives it, "" if the directory is in none.
	Repo string
	// Workspace is the root directory, as commands are recorded with it.
	Workspace string
	// Memory is the workspace of what agents say and write down there, if it is another one: the main working tree's
	// of a linked one.
	Memory string
}

func (p Place) memory() string { return cmp.Or(p.Memory, p.Workspace) }

// places remembers where directories are, because finding out runs git.
type places struct {
	mu  sync.Mutex // guards all
	all map[string]located
}

type located struct {
	Place
	at time.Time
}

const (
	// placeFor is how long a place is remembered: a remote that is set, or a first commit, is
	// noticed after it.
	placeFor  = 2 * time.Minute
	maxPlaces = 256
)

func newPlaces() *places { return &places{all: map[string]located{}} }

// locate returns the place of a directory.
func (p *places) locate(ctx context.Context, find func(context.Context, string) (Place, error), dir string) Place {
	p.mu.Lock()
	known, ok := p.all[dir]
	p.mu.Unlock()
	if ok && time.Since(known.at) < placeFor {
		return known.Place
	}
	found, err := find(ctx, dir)
	if err != nil {
		return Place{Workspace: dir}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) >= maxPlaces {
		clear(p.all)
	}
	p.all[dir] = located{found, time.Now()}
	return found
}
