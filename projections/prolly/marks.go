package prolly

import "context"

// Marks is a set of chunks that are still needed: all chunks of some maps.
type Marks struct {
	d    *DB
	seen map[Hash]struct{}
}

// Marks returns an empty set.
func (d *DB) Marks() *Marks { return &Marks{d, map[Hash]struct{}{}} }

// Add marks all chunks of a map. It reads neither marked chunks nor chunks of level 0, so marking
// many maps takes time proportional to their distinct chunks. After an error the set must not be
// used to delete anything.
func (m *Marks) Add(ctx context.Context, root Hash) error {
	if root == Empty || m.Has(root) {
		return nil
	}
	n, err := m.d.load(nil, root)
	if err != nil {
		return err
	}
	return m.add(ctx, n)
}

func (m *Marks) add(ctx context.Context, n *node) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range n.len() {
		if n.level == 0 {
			break
		}
		switch h, _ := n.link(i); {
		case m.Has(h):
		case n.level == 1:
			m.seen[h] = struct{}{}
		default:
			below, err := m.d.loadChild(n, i)
			if err != nil {
				return err
			}
			if err := m.add(ctx, below); err != nil {
				return err
			}
		}
	}
	m.seen[n.hash] = struct{}{}
	return nil
}

// Has reports whether a chunk is marked.
func (m *Marks) Has(h Hash) bool {
	_, ok := m.seen[h]
	return ok
}

// Len returns the number of marked chunks.
func (m *Marks) Len() int { return len(m.seen) }
