package prolly

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// sha returns the SHA-256 of its arguments: numbers as one byte, texts, hashes.
func sha(parts ...any) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			h.Write([]byte{byte(p)})
		case string:
			h.Write([]byte(p))
		case [32]byte:
			h.Write(p[:])
		}
	}
	return [32]byte(h.Sum(nil))
}

// TestLayout computes the root of a map by hand from the package comment.
func TestLayout(t *testing.T) {
	long := strings.Repeat("l", 129)
	d, s := newDB()
	root := build(t, d, model{"b": "1", "bc": "", "d": long})
	tree := sha(1, sha(1, sha(0, 1, "b", "1"), sha(0, 2, "bc")), sha(4, 1, "d", sha(long)))
	want := sha(2, 0, "\x00\x00\x00\x03", "\x00\x00\x00\x00\x00\x00\x00\x03", tree)
	if root != want {
		t.Errorf("root: got %s, want %x", root, want)
	}
	stored, err := s.Get(Ref{Hash: root})
	check(t, err)
	form := "\x02\x00\x03" + "\x00\x01\x00" + "\x01\x01\x01" + "\x01\x00\x81\x01" + "bcd" + "1" + long
	if got := string(stored[storedData:]); got != form {
		t.Errorf("canonical form: got %q, want %q", got, form)
	}
	if want := sha(2, 0, strings.Repeat("\x00", 12), sha()); Empty != want {
		t.Errorf("root of the empty map: got %s, want %x", Empty, want)
	}

	// A link is tested as a chunk of its own.
	key := "k"
	link := forge(t, d, 3, Entry{[]byte(key), appendLink(nil, root, 300)})
	if want := sha(2, 3, "\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x01\x2c", sha(3, 1, key, [32]byte(root), 0xac, 0x02)); link != want {
		t.Errorf("chunk of a link: got %s, want %x", link, want)
	}

	c, p, err := d.Prove(root, []byte("bc"))
	check(t, err)
	proof, err := p.MarshalBinary()
	check(t, err)
	one, last := sha(0, 1, "b", "1"), sha(4, 1, "d", sha(long))
	if want := "\x01\x01\x00\x03" + "\x03\x01\x00" + string(one[:]) + string(last[:]); string(proof) != want {
		t.Errorf("proof of presence: got %x, want %x", proof, want)
	}
	check(t, Verify(root, c, p))
	_, p, err = d.Prove(root, []byte("z"))
	check(t, err)
	proof, err = p.MarshalBinary()
	check(t, err)
	digest, left := sha(long), sha(1, one, sha(0, 2, "bc"))
	if want := "\x01\x01\x00\x03" + "\x03\x02\x01" + "\x01d\x81" + string(digest[:]) + string(left[:]); string(proof) != want {
		t.Errorf("proof of absence: got %x, want %x", proof, want)
	}
}

// TestRootsStay pins roots: a change of the boundaries or of the hash is a new format, with which
// the roots of the old one are not compatible.
func TestRootsStay(t *testing.T) {
	racing.Alone(t)
	pinned := map[int]string{
		1:      "8d32621fa169ebc343af0da849b74526a28a8afc217b4256019e1f9c626ec469",
		1000:   "3ee8150462a5e3b20eb57926d890bd58ae4e4ebdb8530a63c76dd5e092cd0806",
		100000: "6dec19d9e43a57ce0cb470e4a0a700456b199f628974c4477d62cada918db260",
	}
	for n, want := range pinned {
		d, _ := newDB()
		m := model{}
		for i := range n {
			m[fmt.Sprintf("%x", sha(fmt.Sprint(i)))] = fmt.Sprint("value ", i)
		}
		if root := build(t, d, m); root.String() != want {
			t.Errorf("root of %d entries: got %s, want %s", n, root, want)
		}
	}
}
