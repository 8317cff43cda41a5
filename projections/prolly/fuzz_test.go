package prolly

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzEdits applies the same edits to a map and to a sorted Go map. The input consists of pairs of
// bytes: an operation and a key.
func FuzzEdits(f *testing.F) {
	f.Add([]byte("a0b1c2\x00\x00a1"), uint8(1))
	r := rand.New(rand.NewPCG(5, 5))
	for n := range 5 {
		seed := make([]byte, 1<<(2*n))
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed, uint8(n))
	}
	f.Fuzz(func(t *testing.T, script []byte, spread uint8) {
		script = script[:min(len(script), 600)]
		d, _ := newDB()
		m := model{}
		root := Empty
		var edits []Edit
		apply := func() {
			m.apply(edits)
			next, stats, err := d.Apply(root, edits)
			check(t, err)
			if (next == root) != (stats.Added+stats.Changed+stats.Deleted == 0) {
				t.Fatalf("the root moved: %t, stats %+v", next != root, stats)
			}
			root, edits = next, nil
		}
		for ; len(script) >= 2; script = script[2:] {
			do, k := script[0], uint64(script[1])
			// Few bytes reach many keys: each stands for a key and its neighbours.
			for i := range 1 + uint64(spread)%32 {
				key := []byte{byte(k * 7), byte(k), byte(i * uint64(do))}[:1+do%3]
				switch do % 4 {
				case 0:
					edits = append(edits, Edit{Key: key, Delete: true})
				case 1:
					edits = append(edits, Edit{Key: key, Value: bytes.Repeat(key, int(do)*20)})
				default:
					edits = append(edits, Edit{Key: key, Value: []byte{do}})
				}
			}
			if do%16 == 15 {
				apply()
			}
		}
		apply()
		sameAsBuilt(t, d, root, m)
	})
}

// FuzzChunk checks that a canonical form that decodes encodes to the same bytes.
func FuzzChunk(f *testing.F) {
	d, s := newDB()
	root, err := d.Build(numbered(300))
	check(f, err)
	for _, r := range reachable(f, d, root) {
		stored, err := s.Get(r)
		check(f, err)
		f.Add(stored[storedData:])
	}
	f.Add([]byte{chunkVersion, 0, 1, 0, 0, 0})
	f.Add([]byte{chunkVersion, 1, 1, 0, 0, 33})
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := decode(Hash{}, data)
		if err != nil {
			return
		}
		c := &chunker{level: n.level}
		for i := range n.len() {
			c.add(n.key(i), n.value(i))
		}
		h, again := c.chunk()
		if !bytes.Equal(again, data) {
			t.Errorf("got %x, encoded again %x", data, again)
		}
		if h != n.rehash() {
			t.Errorf("hash: got %s, want %s", n.rehash(), h)
		}
	})
}

// FuzzStored decodes stored forms of a chunk through every reader.
func FuzzStored(f *testing.F) {
	s := NewMemory()
	root := build(f, New(s, Options{}), model{"a": "1", "b": "2"})
	stored, err := s.Get(Ref{Hash: root})
	check(f, err)
	f.Add(stored)
	f.Add(stored[storedData:])
	f.Fuzz(func(t *testing.T, b []byte) {
		d, s := newDB()
		check(t, s.Put([]Chunk{{Ref{Hash: root}, b}}))
		switch n, err := d.read(nil, root); {
		case err == nil && n.rehash() != root:
			t.Errorf("the checksum of another chunk is the same: %x", b)
		case err != nil && !errors.Is(err, ErrDamaged):
			t.Errorf("got %v, want ErrDamaged", err)
		}
		// This is damage that the checksum does not detect.
		b = pack(root, b)
		check(t, s.Put([]Chunk{{Ref{Hash: root}, b}}))
		_, err := d.read(nil, root)
		_, bad := d.Check(t.Context(), root)
		if (err != nil) != (bad != nil) && !errors.Is(bad, ErrDamaged) {
			t.Errorf("read: %v, check: %v", err, bad)
		}
	})
}

// FuzzProof checks that a proof that decodes encodes to the same bytes, and that a proof that
// verifies for the claim is the one that Prove makes.
func FuzzProof(f *testing.F) {
	d, _ := newDB()
	m := model{}
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		m[string([]byte{byte(r.Uint32()), byte(r.Uint32())})] = "v"
	}
	root := build(f, d, m)
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i%16 > 0 {
			continue
		}
		for _, key := range []string{k, k + "x"} {
			_, p, err := d.Prove(root, []byte(key))
			check(f, err)
			data, err := p.MarshalBinary()
			check(f, err)
			f.Add(data, []byte(key))
		}
	}
	f.Fuzz(func(t *testing.T, data, key []byte) {
		if len(data) > 16<<10 || len(key) > 1<<10 {
			return // larger inputs are slower and cover nothing new
		}
		var p Proof
		if err := p.UnmarshalBinary(data); err != nil {
			return
		}
		again, err := p.MarshalBinary()
		check(t, err)
		if !bytes.Equal(again, data) {
			t.Errorf("got %x, encoded again %x", data, again)
		}
		_, there := m[string(key)]
		if Verify(root, Claim{Key: key, Value: []byte("v")}, &p) == nil && !there {
			t.Errorf("%q is said to be there", key)
		}
		if Verify(root, Claim{Key: key, Absent: true}, &p) == nil && there {
			t.Errorf("%q is said not to be there", key)
		}
	})
}
