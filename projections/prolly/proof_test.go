package prolly

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/racing"
)

// proved is a proof of one of the possible shapes.
type proved struct {
	root  Hash
	claim Claim
	proof *Proof
	// after and before are keys between which the same proof may also be valid.
	after, before string
}

// provedShapes proves presence and absence in maps of many sizes: for small maps of every key and
// next to it, for others of some keys.
func provedShapes(t testing.TB) map[string]proved {
	t.Helper()
	all := map[string]proved{}
	for _, size := range []int{0, 1, 2, 5, 30, 300, 3000} {
		r := rand.New(rand.NewPCG(uint64(size), 4))
		m := model{}
		for range size {
			m[fmt.Sprint("k", r.Uint32())] = strings.Repeat("v", 1+r.IntN(3)*r.IntN(100))
		}
		d, _ := newDB()
		root := build(t, d, m)
		keys := slices.Sorted(maps.Keys(m))
		prove := func(name, key, after, before string) {
			c, p, err := d.Prove(root, []byte(key))
			check(t, err)
			all[fmt.Sprintf("%s of %d, %d left", name, size, len(p.Left))] = proved{root, c, p, after, before}
			if want, there := m[key]; there == c.Absent || string(c.Value) != want || string(c.Key) != key {
				t.Fatalf("claim about %q: got %+v", key, c)
			}
			if err := Verify(root, c, p); err != nil {
				t.Fatalf("%s of %d entries: %v", name, size, err)
			}
		}
		prove("before the first", "a", "", strings.Join(keys[:min(1, len(keys))], ""))
		for i, k := range keys {
			if i%(1+size/100) > 0 && i+1 < len(keys) {
				continue
			}
			prove("presence", k, "", "")
			next := ""
			if i+1 < len(keys) {
				next = keys[i+1]
				prove("gap before", next[:len(next)-1], k, next)
			}
			prove("gap behind", k+"\x00", k, next)
		}
		prove("behind the last", "z", strings.Join(keys[max(0, len(keys)-1):], ""), "")
	}
	for _, want := range []string{
		"before the first of 0, 0 left", "before the first of 1, 0 left", "behind the last of 1, 0 left",
		"presence of 3000, 0 left", "gap behind of 3000, 0 left", "gap behind of 3000, 1 left", "gap behind of 3000, 2 left",
	} {
		if _, ok := all[want]; !ok {
			t.Fatalf("no proof %q among %q", want, slices.Sorted(maps.Keys(all)))
		}
	}
	return all
}

func TestProofForms(t *testing.T) {
	for name, p := range provedShapes(t) {
		data, err := p.proof.MarshalBinary()
		check(t, err)
		var back Proof
		check(t, back.UnmarshalBinary(data))
		check(t, Verify(p.root, p.claim, &back))
		again, err := back.MarshalBinary()
		check(t, err)
		if !bytes.Equal(again, data) {
			t.Errorf("%s: encoded again it is not the same", name)
		}
		text, err := json.Marshal(p.proof)
		check(t, err)
		var read Proof
		check(t, json.Unmarshal(text, &read))
		binary, err := read.MarshalBinary()
		check(t, err)
		if !bytes.Equal(binary, data) {
			t.Errorf("%s: through JSON: %s", name, cmp.Diff(*p.proof, read))
		}
		check(t, Verify(p.root, p.claim, &read))
	}
}

// TestForgedBytes changes each bit of each byte, truncates, and appends.
func TestForgedBytes(t *testing.T) {
	racing.Alone(t)
	for name, p := range provedShapes(t) {
		data, err := p.proof.MarshalBinary()
		check(t, err)
		refused := func(how string, forged []byte) {
			var q Proof
			if err := q.UnmarshalBinary(forged); err != nil {
				return
			}
			if err := Verify(p.root, p.claim, &q); err == nil {
				t.Errorf("%s, %s: verified", name, how)
			} else if !errors.Is(err, ErrNotProved) {
				t.Errorf("%s, %s: got %v, want ErrNotProved in it", name, how, err)
			}
		}
		for i := range data {
			for bit := range 8 {
				forged := bytes.Clone(data)
				forged[i] ^= 1 << bit
				refused(fmt.Sprintf("bit %d of byte %d", bit, i), forged)
			}
			if new(Proof).UnmarshalBinary(data[:i]) == nil {
				t.Errorf("%s: %d of %d bytes were decoded", name, i, len(data))
			}
		}
		if new(Proof).UnmarshalBinary(append(bytes.Clone(data), 0)) == nil {
			t.Errorf("%s: decoded with a byte behind it", name)
		}
	}
}

// TestForgedFields changes each field of a proof in turn, whatever its type: numbers by one, texts
// by a byte, and lists by removing, duplicating or moving an element.
func TestForgedFields(t *testing.T) {
	racing.Alone(t)
	for name, p := range provedShapes(t) {
		text, err := json.Marshal(p.proof)
		check(t, err)
		data, err := p.proof.MarshalBinary()
		check(t, err)
		tried := 0
		eachForgery(t, text, func(how string, forged []byte) {
			var q Proof
			if err := json.Unmarshal(forged, &q); err != nil {
				tried++
				return
			}
			if got, err := q.MarshalBinary(); err == nil && bytes.Equal(got, data) {
				return // an omitted zero
			}
			tried++
			if err := Verify(p.root, p.claim, &q); err == nil {
				t.Errorf("%s, %s: verified", name, how)
			}
		})
		if tried == 0 {
			t.Errorf("%s: nothing was forged", name)
		}
	}
}

func TestForgedClaims(t *testing.T) {
	racing.Alone(t)
	for name, p := range provedShapes(t) {
		refused := func(how string, root Hash, c Claim) {
			if err := Verify(root, c, p.proof); !errors.Is(err, ErrNotProved) {
				t.Errorf("%s, %s: got %v", name, how, err)
			}
		}
		for i := range p.root {
			root := p.root
			root[i] ^= 1
			refused("another root", root, p.claim)
		}
		if p.root != Empty {
			refused("the root of the empty map", Empty, p.claim)
		}
		if p.claim.Absent {
			refused("present", p.root, Claim{Key: p.claim.Key})
			refused("present, with a value", p.root, Claim{Key: p.claim.Key, Value: []byte("v")})
			refused("absent, with a value", p.root, Claim{Key: p.claim.Key, Value: []byte("v"), Absent: true})
			for _, k := range []string{p.after, p.before} {
				if k != "" {
					refused("a neighbour is absent", p.root, Claim{Key: []byte(k), Absent: true})
					refused("a neighbour is present", p.root, Claim{Key: []byte(k), Value: []byte("v")})
				}
			}
			if p.proof.Count == 1 {
				continue // for a single entry both sides are proved
			}
			if p.before != "" {
				refused("a key too far behind is absent", p.root, Claim{Key: []byte(p.before + "\x00"), Absent: true})
			}
			if p.after != "" {
				refused("a key too far before is absent", p.root, Claim{Key: []byte(p.after[:len(p.after)-1]), Absent: true})
			}
			continue
		}
		refused("absent", p.root, Claim{Key: p.claim.Key, Absent: true})
		refused("absent, with the value", p.root, Claim{Key: p.claim.Key, Value: p.claim.Value, Absent: true})
		refused("no value", p.root, Claim{Key: p.claim.Key})
		refused("no key", p.root, Claim{Value: p.claim.Value})
		refused("a byte from the value to the key", p.root, Claim{Key: append(bytes.Clone(p.claim.Key), p.claim.Value[0]), Value: p.claim.Value[1:]})
		for i := range p.claim.Key {
			k := bytes.Clone(p.claim.Key)
			k[i] ^= 1
			refused("another key", p.root, Claim{Key: k, Value: p.claim.Value})
		}
		for i := range p.claim.Value {
			v := bytes.Clone(p.claim.Value)
			v[i] ^= 1
			refused("another value", p.root, Claim{Key: p.claim.Key, Value: v})
		}
	}
	if err := Verify(Empty, Claim{Absent: true}, nil); !errors.Is(err, ErrNotProved) {
		t.Errorf("without a proof: got %v", err)
	}
}

// TestProofsDoNotFitEachOther verifies each proof for the claims and roots of others.
func TestProofsDoNotFitEachOther(t *testing.T) {
	shapes := provedShapes(t)
	for name, p := range shapes {
		for other, q := range shapes {
			if p.root == q.root && string(p.claim.Key) == string(q.claim.Key) {
				continue
			}
			err := Verify(q.root, q.claim, p.proof)
			fits := p.root == q.root && p.claim.Absent && q.claim.Absent && (p.proof.Count == 1 || p.after == q.after && p.before == q.before)
			if err == nil && !fits {
				t.Errorf("%s is taken for %s", name, other)
			}
		}
	}
}

// TestForgedNeighbours takes each proof of absence between two chunks and ends its path to one
// neighbour earlier, at an entry that is not the last of its chunk (or on the other side not the
// first). If it verified, the keys between would be proved absent although they are present.
func TestForgedNeighbours(t *testing.T) {
	racing.Alone(t)
	d, _ := newDB()
	m := model{}
	for i := range 3000 {
		m[fmt.Sprintf("k%05d", i)] = "v"
	}
	root := build(t, d, m)
	mp, err := d.Map(root)
	check(t, err)
	keys := slices.Sorted(maps.Keys(m))
	way := func(key string) []nodeEntry {
		c := newCursor(d, mp.root, 0)
		check(t, c.seek([]byte(key)))
		return c.path
	}
	tried := map[string]int{}
	for i := range keys[:len(keys)-1] {
		_, p, err := d.Prove(root, []byte(keys[i]+"\x00"))
		check(t, err)
		if len(p.Left) == 0 {
			continue
		}
		parts := len(p.Path) - 1
		refused := func(side, key string, forged Proof) {
			tried[fmt.Sprintf("%s, %d left", side, len(p.Left))]++
			if err := Verify(root, Claim{Key: []byte(key), Absent: true}, &forged); !errors.Is(err, ErrNotProved) {
				t.Errorf("%s: %q is there, and is proved absent: %v", side, key, err)
			}
		}
		same := func(path, of []nodeEntry) bool {
			return path[parts].i == of[parts].i && path[parts].n.hash == of[parts].n.hash
		}
		left, right := way(keys[i]), way(keys[i+1])
		for j := i - 1; j >= max(0, i-80); j-- {
			if path := way(keys[j]); same(path, left) {
				forged := *p
				forged.Left = steps(path[parts+1:], 1)
				refused("left", keys[j+1], forged)
			}
		}
		for j := i + 2; j < min(len(keys), i+80); j++ {
			if path := way(keys[j]); same(path, right) {
				forged := *p
				forged.Right = steps(path[parts+1:], 1)
				refused("right", keys[j-1], forged)
			}
		}
	}
	for _, shape := range []string{"left, 1 left", "right, 1 left", "left, 2 left", "right, 2 left"} {
		if tried[shape] == 0 {
			t.Errorf("nothing was tried of %q: %v", shape, tried)
		}
	}
	t.Log(tried)
}

// TestForgedLinks proves presence in maps whose links do not lead where their keys require. Only an
// adversary builds them, to prove a key both present and absent.
func TestForgedLinks(t *testing.T) {
	leaf := func(keys ...string) (h Hash, leaves []Hash) {
		for _, k := range keys {
			l, _ := entryHash(0, []byte(k), []byte("v"), nil)
			leaves = append(leaves, l)
		}
		return chunkHash(0, len(keys), uint64(len(keys)), merkleRoot(slices.Clone(leaves))), leaves
	}
	for _, c := range []struct {
		name string
		link string   // the key of the second link
		keys []string // of the chunk below it
		at   int      // index of the proved key
		want bool
	}{
		{"as it should be", "b", []string{"b1", "b2"}, 0, true},
		{"the second key", "b", []string{"b1", "b2"}, 1, true},
		{"a first key before the link", "b", []string{"a1", "b2"}, 0, false},
		{"a first key behind the link", "b", []string{"c1", "c2"}, 0, false},
		{"a second key before the link", "b", []string{"b1", "a2"}, 1, false},
	} {
		below, leaves := leaf(c.keys...)
		other, _ := leaf("0")
		links := []Shown{{Hash: &other, Count: 1}, {Key: []byte(c.link), Hash: &below, Count: 2}}
		hashes := []Hash{links[0].hash(1), links[1].hash(1)}
		root := chunkHash(1, 2, 3, merkleRoot(slices.Clone(hashes)))
		p := Proof{Count: 3, Path: []Step{
			{Entries: 2, Index: 1, Shown: links[1:], Siblings: hashes[:1]},
			{Entries: 2, Index: c.at, Siblings: []Hash{leaves[1-c.at]}},
		}}
		err := Verify(root, Claim{Key: []byte(c.keys[c.at]), Value: []byte("v")}, &p)
		if (err == nil) != c.want || err != nil && !errors.Is(err, ErrNotProved) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Between levels of links the first key is the link's own.
	below, leaves := leaf("b1", "b2")
	inner := Shown{Key: []byte("b"), Hash: &below, Count: 2}
	for link, want := range map[string]bool{"b": true, "a": false} {
		middle, other := chunkHash(1, 1, 2, inner.hash(1)), Hash{1}
		links := []Shown{{Hash: &other, Count: 1}, {Key: []byte(link), Hash: &middle, Count: 2}}
		hashes := []Hash{links[0].hash(2), links[1].hash(2)}
		root := chunkHash(2, 2, 3, merkleRoot(slices.Clone(hashes)))
		p := Proof{Count: 3, Path: []Step{
			{Entries: 2, Index: 1, Shown: links[1:], Siblings: hashes[:1]},
			{Entries: 1, Shown: []Shown{inner}},
			{Entries: 2, Siblings: leaves[1:]},
		}}
		if err := Verify(root, Claim{Key: []byte("b1"), Value: []byte("v")}, &p); (err == nil) != want {
			t.Errorf("through the link %q: %v", link, err)
		}
	}
}

func TestProofSize(t *testing.T) {
	racing.Alone(t)
	d, _ := newDB()
	root, err := d.Build(numbered(50_000))
	check(t, err)
	m, err := d.Map(root)
	check(t, err)
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		e, _, err := m.At(r.Uint64N(m.Len()))
		check(t, err)
		for _, key := range [][]byte{e.Key, append(bytes.Clone(e.Key), 0)} {
			_, p, err := d.Prove(root, key)
			check(t, err)
			data, err := p.MarshalBinary()
			check(t, err)
			if len(data) > 4096 {
				t.Errorf("a proof takes %d bytes, more than 4096", len(data))
			}
		}
	}
}

// eachForgery calls try with JSON in which one thing has been changed.
func eachForgery(t *testing.T, text []byte, try func(how string, forged []byte)) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	check(t, d.Decode(&tree))
	emit := func(how string) {
		forged, err := json.Marshal(tree)
		check(t, err)
		try(how, forged)
	}
	var forge func(at string, v any, set func(any))
	forge = func(at string, v any, set func(any)) {
		with := func(how string, changed any) {
			set(changed)
			emit(at + " " + how)
			set(v)
		}
		switch v := v.(type) {
		case map[string]any:
			for name, field := range v {
				forge(at+"."+name, field, func(changed any) { v[name] = changed })
				delete(v, name)
				emit(at + "." + name + " left out")
				v[name] = field
			}
		case []any:
			for i, element := range v {
				forge(fmt.Sprintf("%s[%d]", at, i), element, func(changed any) { v[i] = changed })
				with(fmt.Sprintf("without element %d", i), slices.Delete(slices.Clone(v), i, i+1))
				with(fmt.Sprintf("element %d twice", i), slices.Insert(slices.Clone(v), i, element))
				if j := (i + 1) % len(v); j != i && fmt.Sprint(v[i]) != fmt.Sprint(v[j]) {
					moved := slices.Clone(v)
					moved[i], moved[j] = moved[j], moved[i]
					with(fmt.Sprintf("elements %d and %d changed about", i, j), moved)
				}
			}
		case json.Number:
			n, err := v.Int64()
			check(t, err)
			with("one more", n+1)
			with("one less", n-1)
		case string:
			raw, err := hex.DecodeString(v)
			encode := hex.EncodeToString
			if err != nil || len(raw) != 32 {
				raw, err = base64.StdEncoding.DecodeString(v)
				check(t, err)
				encode = base64.StdEncoding.EncodeToString
				with("a byte more", encode(append(bytes.Clone(raw), 0)))
				with("a byte less", encode(raw[:max(0, len(raw)-1)]))
			}
			for i := range raw {
				raw[i] ^= 1
				with(fmt.Sprintf("byte %d", i), encode(raw))
				raw[i] ^= 1
			}
		}
	}
	forge("proof", tree, func(changed any) { tree = changed })
}
