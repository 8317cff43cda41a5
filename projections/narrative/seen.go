package narrative

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Looked is what a recorder saw to change below a directory while a command ran. It is no part of the stored
// state: a query reads it from the command's events (Seen.Looked).
type Looked struct {
	// Below is the directory, of which everything was looked at.
	Below string
	// UntilUnixNano is when the recorder had looked.
	UntilUnixNano int64
	// Files are those that have another content, or are new or gone.
	Files []string
	// Removed are those of Files that are gone.
	Removed []string
	// Unclear are files and directories of which the look does not tell whether something in them changed.
	Unclear []string
}

const (
	// maxSeenFiles is the number of changed files up to which a failure that names one is evidence: of many
	// one has the name by chance.
	maxSeenFiles = 32
	// beside is how many places of the partition are searched, in either direction, for commands that ran
	// at the same time.
	beside = 8
)

// looked returns what a recorder saw of a node, nil if it did not look.
func (v *View) looked(n *Node) (*Looked, error) {
	if v.seen.Looked == nil || n.lookedUp {
		return n.look, nil
	}
	if err := v.loadOutcome(n); err != nil {
		return nil, err
	}
	l, err := v.seen.Looked(n.Position)
	if l == nil && err == nil && n.Outcome != n.Position && n.Outcome != (schemas.Position{}) {
		l, err = v.seen.Looked(n.Outcome)
	}
	if err == nil {
		n.look, n.lookedUp = l, true
	}
	return l, err
}

// changed reports whether a path, or something below it, was seen to change.
func (l *Looked) changed(name string) bool {
	return slices.ContainsFunc(l.Files, func(f string) bool { return f == name || within(f, name) })
}

// within reports whether a path is below another. What git stores for itself is below no working tree.
func within(name, tree string) bool {
	return below(name, tree) && (strings.Contains(tree, "/.git") || !strings.Contains(name+"/", "/.git/"))
}

// Untouched reports whether a path below what was looked at was seen to be left as it was.
func (l *Looked) Untouched(name string) bool {
	return (name == l.Below || below(name, l.Below)) && !l.changed(name) && !slices.ContainsFunc(l.Unclear, func(u string) bool {
		return u == name || u == path.Dir(name) || within(u, name)
	})
}

// OnlyLooked reports whether a command that asks or shows something was seen to change no file.
func (v *View) OnlyLooked(id schemas.EventID) (bool, error) {
	n, err := v.node(id)
	if n == nil || err != nil || n.Category != recountv1.Category_CATEGORY_QUERY || n.Effects&Changes != 0 {
		return false, err
	}
	l, err := v.looked(n)
	return l != nil && len(l.Files) == 0, err
}

// Removed reports whether the command of an event was seen to remove a file, or everything that was seen to change in
// a directory that may be gone.
func (v *View) Removed(at schemas.Position, name string) (bool, error) {
	n, err := v.nodeAt(at)
	if n == nil || err != nil {
		return false, err
	}
	l, err := v.looked(n)
	return l != nil && err == nil && l.removed(name), err
}

// removed reports whether a path was seen to be removed.
func (l *Looked) removed(name string) bool {
	there := func(f string) bool { return f == name || below(f, name) }
	return l.changed(name) && !slices.ContainsFunc(l.Files, func(f string) bool { return there(f) && !slices.Contains(l.Removed, f) }) &&
		!slices.ContainsFunc(l.Unclear, there)
}

// untouched reports whether a node that should write a resource was seen to leave it as it was.
func (v *View) untouched(n *Node, r Resource) (bool, error) {
	if r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH || n.Effects&RunsService != 0 {
		return false, nil // what it started may write later
	}
	l, err := v.looked(n)
	return l != nil && err == nil && l.Untouched(r.Name), err
}

// idle reports whether a node that should change files, and nothing else, was seen to leave all as they were.
// What git stores for itself does not count.
func (v *View) idle(n *Node) (bool, error) {
	idle := false
	for _, r := range n.Resources {
		if r.Access&Write == 0 || r.Kind == recountv1.ResourceKind_RESOURCE_KIND_BRANCH || strings.Contains(r.Name, "/.git/") {
			continue
		}
		var err error
		if idle, err = v.untouched(n, r); !idle || err != nil {
			return false, err
		}
	}
	return idle && n.Effects&(Installs|Configures|SetsEnvironment) == 0, nil
}

// quiet reports whether a node was seen to change nothing that another could end otherwise for: no file but
// what git stores for itself, nothing outside what was looked at, and nothing of the session or the machine.
func (v *View) quiet(n *Node) (bool, error) {
	l, err := v.looked(n)
	if l == nil || err != nil || n.Effects&(Installs|Configures|SetsEnvironment|RunsService) != 0 {
		return false, err
	}
	gits := func(name string) bool { return strings.Contains(name+"/", "/.git/") }
	for _, f := range slices.Concat(l.Files, l.Unclear) {
		if !gits(f) {
			return false, nil
		}
	}
	return !slices.ContainsFunc(n.Resources, func(r Resource) bool {
		switch {
		case r.Access&Write == 0 || r.Access&Implied != 0 || r.Kind == recountv1.ResourceKind_RESOURCE_KIND_BRANCH:
			return false
		case r.Kind == recountv1.ResourceKind_RESOURCE_KIND_PATH:
			return r.Name != l.Below && !below(r.Name, l.Below)
		}
		return true
	}), nil
}

// seenWriting reports whether a node was seen to write a file, and no other command that ran at the same time
// was.
func (v *View) seenWriting(n *Node, name string) (bool, error) {
	l, err := v.looked(n)
	if l == nil || err != nil || !slices.Contains(l.Files, name) {
		return false, err
	}
	for offset := n.Position.Offset - beside; offset <= n.Position.Offset+beside; offset++ {
		if offset < 0 || offset == n.Position.Offset {
			continue
		}
		o, err := v.sibling(n, offset)
		if err != nil {
			return false, err
		}
		if o == nil || o.session == n.session {
			continue
		}
		other, err := v.looked(o)
		if err != nil {
			return false, err
		}
		if other != nil && o.TimeUnixNano < l.UntilUnixNano && n.TimeUnixNano < other.UntilUnixNano && slices.Contains(other.Files, name) {
			return false, nil
		}
	}
	return true, nil
}

// writing returns those of the last intents of a node's session that were seen to change files, the newest
// first.
func (v *View) writing(n *Node) ([]*Node, error) {
	if v.seen.Looked == nil || n.recentKnown {
		return n.recent, nil
	}
	var all []*Node
	err := v.visitBackward(v.list(kindSession, n, n.session), n.Position.Offset, window, func(offset int64, _ []byte) (bool, error) {
		from, err := v.sibling(n, offset)
		if from == nil || err != nil {
			return true, err
		}
		l, err := v.looked(from)
		if l != nil && len(l.Files) > 0 {
			all = append(all, from)
		}
		return true, err
	})
	if err == nil {
		n.recent, n.recentKnown = all, true
	}
	return all, err
}

// seenWriters are the writers of a file that were seen to write it, the newest first.
func (v *View) seenWriters(n *Node, r Resource) ([]*Node, error) {
	if r.Kind != recountv1.ResourceKind_RESOURCE_KIND_PATH || r.Access&Read == 0 || r.Access&(Implied|Bare) == Implied {
		return nil, nil
	}
	recent, err := v.writing(n)
	var all []*Node
	for _, from := range recent {
		ok, failed := v.seenWriting(from, r.Name)
		if failed != nil {
			return nil, failed
		}
		if ok {
			all = append(all, from)
		}
	}
	return all, err
}

// seenNamed returns the file that a failure's output names and that another intent was seen to write.
func (v *View) seenNamed(failure, from *Node) (Resource, bool, error) {
	if v.seen.Looked == nil || len(failure.mentioned) == 0 || from.Position == failure.Position {
		return Resource{}, false, nil
	}
	l, err := v.looked(from)
	if l == nil || err != nil || len(l.Files) > maxSeenFiles {
		return Resource{}, false, err
	}
	for _, f := range l.Files {
		r := Resource{Kind: recountv1.ResourceKind_RESOURCE_KIND_PATH, Name: f, Access: Write}
		if strings.Contains(f, "/.git/") || !names(failure.mentioned, r) {
			continue
		}
		if ok, err := v.seenWriting(from, f); ok || err != nil {
			return r, ok, err
		}
	}
	return Resource{}, false, nil
}
