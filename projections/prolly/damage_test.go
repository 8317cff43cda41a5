package prolly

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// useAll calls every operation on a map and returns the errors.
func useAll(t testing.TB, d *DB, root, other Hash) (all []error) {
	note := func(err error) {
		if err != nil {
			all = append(all, err)
		}
	}
	m, err := d.Map(root)
	note(err)
	if err == nil {
		n := 0
		for e, err := range m.All() {
			note(err)
			if err == nil && n%10 == 0 {
				_, _, err = m.Get(e.Key)
				note(err)
				_, _, err = d.Prove(root, e.Key)
				note(err)
			}
			n++
		}
		for i := range uint64(20) {
			_, _, err = m.At(i * m.Len() / 20)
			note(err)
			_, err = m.Rank(fmt.Appendf(nil, "internal/dir%03d", i))
			note(err)
		}
	}
	for _, err := range d.Diff(root, other) {
		note(err)
	}
	_, _, err = d.Apply(root, []Edit{{Key: []byte("a")}, {Key: []byte("internal/m")}, {Key: []byte("z")}})
	note(err)
	note(d.Marks().Add(t.Context(), root))
	return all
}

// TestDamage flips a bit in each byte of each stored chunk, truncates the chunk, and replaces it
// with another. Every reader must name the damaged chunk.
func TestDamage(t *testing.T) {
	racing.Alone(t)
	s := NewMemory()
	d := New(s, Options{})
	g := newCodeGraph(100, true)
	root := build(t, d, g.entries)
	other, _, err := d.Apply(root, g.commit())
	check(t, err)
	chunks := reachable(t, d, root)
	for i, r := range chunks {
		h := r.Hash
		stored, err := s.Get(r)
		check(t, err)
		instead, err := s.Get(chunks[(i+1)%len(chunks)])
		check(t, err)
		harms := map[string][]byte{"cut": stored[:len(stored)/2], "empty": {}, "another": instead}
		for at := range stored {
			b := bytes.Clone(stored)
			b[at] ^= 1 << (at % 8)
			harms[fmt.Sprint("flipped at ", at)] = b
		}
		for name, b := range harms {
			check(t, s.Put([]Chunk{{r, b}}))
			d := New(s, Options{CacheBytes: -1})
			_, err := d.Check(t.Context(), root)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), h.String()) {
				t.Errorf("chunk %s, %s: check says %v", h, name, err)
			}
			if len(name) < 10 || strings.HasSuffix(name, "7") {
				errs := useAll(t, d, root, other)
				if len(errs) == 0 {
					t.Errorf("chunk %s, %s: nothing notices", h, name)
				}
				for _, err := range errs {
					if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), h.String()) {
						t.Errorf("chunk %s, %s: got %v", h, name, err)
					}
				}
			}
		}
		check(t, s.Put([]Chunk{{r, stored}}))
	}
}

// forge stores a chunk with arbitrary entries, ignoring boundaries, at every place from which a
// link may lead to it.
func forge(t *testing.T, d *DB, level uint8, entries ...Entry) Hash {
	t.Helper()
	c := &chunker{level: level}
	for _, e := range entries {
		c.add(e.Key, e.Value)
	}
	h, data := c.chunk()
	for n := range len(entries[0].Key) + 1 {
		check(t, d.store.Put([]Chunk{{Ref{0, string(entries[0].Key[:n]), h}, pack(h, data)}}))
	}
	return h
}

// TestCheckFinds uses maps in which every hash is right but that Build would not make.
func TestCheckFinds(t *testing.T) {
	var letters []Entry
	for i := range 200 {
		letters = append(letters, Entry{fmt.Appendf(nil, "key %03d", i), fmt.Append(nil, i)})
	}
	// end is where the first chunk of letters ends.
	end := 1
	for !cutBehind(0, letters[end-1].Key, end, 0) {
		end++
	}
	link := func(key string, h Hash, count int) Entry {
		return Entry{[]byte(key), appendLink(nil, h, uint64(count))}
	}
	for name, c := range map[string]struct {
		forge func(d *DB) Hash
		want  string
	}{
		"too long a chunk": {
			func(d *DB) Hash { return forge(t, d, 0, letters[:end+1]...) },
			fmt.Sprintf("goes on behind entry %d", end-1),
		},
		"too short a chunk": {func(d *DB) Hash {
			return forge(t, d, 1, link("", forge(t, d, 0, letters[:end-1]...), end-1),
				link(string(letters[end-1].Key), forge(t, d, 0, letters[end-1]), 1))
		}, "where content does not end it"},
		"one link": {func(d *DB) Hash {
			return forge(t, d, 1, link("", forge(t, d, 0, letters[:3]...), 3))
		}, "a root with one link"},
		"a first link with a key": {func(d *DB) Hash {
			return forge(t, d, 1, link("k", forge(t, d, 0, letters[:end]...), end),
				link(string(letters[end].Key), forge(t, d, 0, letters[end]), 1))
		}, "want an empty one"},
		"too long a link key": {func(d *DB) Hash {
			return forge(t, d, 1, link("", forge(t, d, 0, letters[:end]...), end),
				link("key 100", forge(t, d, 0, letters[100]), 1))
		}, `has the key "key 100", want "key 1"`},
		"wrong count": {func(d *DB) Hash {
			return forge(t, d, 1, link("", forge(t, d, 0, letters[:end]...), end+1),
				link(string(letters[end].Key), forge(t, d, 0, letters[end]), 1))
		}, fmt.Sprintf("says %d entries", end+1)},
		"chunks out of order": {func(d *DB) Hash {
			return forge(t, d, 1, link("", forge(t, d, 0, letters[:end]...), end),
				link("key 0", forge(t, d, 0, letters[0]), 1))
		}, "does not come after"},
		"levels left out": {func(d *DB) Hash {
			return forge(t, d, 2, link("", forge(t, d, 0, letters[:end]...), end),
				link(string(letters[end].Key), forge(t, d, 0, letters[end]), 1))
		}, "of level 0"},
		"keys that do not ascend": {func(d *DB) Hash {
			return forge(t, d, 0, letters[1], letters[0])
		}, "does not come after the one before"},
	} {
		d, _ := newDB()
		root := c.forge(d)
		_, err := d.Check(t.Context(), root)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

// TestChunksStayBounded uses keys that an adversary would choose, of which none or each ends a
// chunk, and keys and values of any length.
func TestChunksStayBounded(t *testing.T) {
	racing.Alone(t)
	var never, always, long []Entry
	for i := range 200_000 {
		k := fmt.Appendf(nil, "%07d", i)
		switch {
		case !cutBehind(0, k, MaxEntries-1, 0) && len(never) < 3000:
			never = append(never, Entry{Key: k, Value: k})
		case cutBehind(0, k, MinEntries, 0):
			always = append(always, Entry{Key: k, Value: k})
		}
	}
	for i := range 300 {
		long = append(long, Entry{append(bytes.Repeat([]byte{'k'}, MaxKey-1-i%3), byte(i)), make([]byte, MaxValue*(i%4)/3)})
	}
	slices.SortFunc(long, func(a, b Entry) int { return bytes.Compare(a.Key, b.Key) })
	long = slices.CompactFunc(long, func(a, b Entry) bool { return bytes.Equal(a.Key, b.Key) })
	for name, entries := range map[string][]Entry{"never": never, "always": always, "long": long} {
		if len(entries) < 100 {
			t.Fatalf("%s: %d entries", name, len(entries))
		}
		m := model{}
		for _, e := range entries {
			m[string(e.Key)] = string(e.Value)
		}
		d, _ := newDB()
		root := build(t, d, m)
		for _, r := range reachable(t, d, root) {
			n, err := d.read([]byte(r.Place), r.Hash)
			check(t, err)
			if n.len() > MaxEntries || len(n.data) > MaxChunk {
				t.Errorf("%s: chunk of %d entries, %d bytes", name, n.len(), len(n.data))
			}
		}
		if _, err := d.Check(t.Context(), root); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		first := entries[0]
		edits := []Edit{{Key: first.Key, Delete: true}, {Key: append(bytes.Clone(first.Key[:1]), 0), Value: first.Value}}
		m.apply(edits)
		root, _, err := d.Apply(root, edits)
		check(t, err)
		sameAsBuilt(t, d, root, m)
	}
}
