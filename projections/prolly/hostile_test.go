package prolly

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
)

// TestTheEmptyKey has an entry with the empty key that fills a chunk by itself, so that the last
// key before the second chunk is empty, which differs from there being none.
func TestTheEmptyKey(t *testing.T) {
	long := strings.Repeat("v", MaxValue)
	m := model{"": long}
	for i := range 100 {
		m[fmt.Sprintf("key %03d", i)] = "v"
	}
	d, _ := newDB()
	sameAsBuilt(t, d, build(t, d, m), m)

	for name, edits := range map[string][]Edit{
		"deleted":                       {{Delete: true}},
		"made short":                    {{Value: []byte("v")}},
		"made short, later more":        {{Value: []byte("v")}, {Key: []byte("key 050"), Delete: true}},
		"another value":                 {{Value: []byte(long[1:] + "w")}},
		"another, and the next deleted": {{Value: []byte(long[1:] + "w")}, {Key: []byte("key 000"), Delete: true}},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := newDB()
			m := model{"": long}
			for i := range 100 {
				m[fmt.Sprintf("key %03d", i)] = "v"
			}
			root := build(t, d, m)
			m.apply(edits)
			next, _, err := d.Apply(root, edits)
			check(t, err)
			sameAsBuilt(t, d, next, m)
			// The same in the other direction.
			m[""] = long
			back, _, err := d.Apply(next, []Edit{{Value: []byte(long)}})
			check(t, err)
			sameAsBuilt(t, d, back, m)
		})
	}
}

// TestHistoryDoesNotShowWithHostileKeys uses keys that an adversary would choose: the empty one,
// prefixes of each other, keys of maximum length that differ only at the end, and values that fill
// chunks.
func TestHistoryDoesNotShowWithHostileKeys(t *testing.T) {
	racing.Alone(t)
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 9))
		alphabet := []string{"\x00", "a", "\xff"}[:1+r.IntN(3)]
		long := strings.Repeat("k", MaxKey-3)
		key := func() []byte {
			var b strings.Builder
			if seed%5 == 4 {
				b.WriteString(long)
			}
			for range r.IntN(4) {
				b.WriteString(alphabet[r.IntN(len(alphabet))])
			}
			if r.IntN(2) == 0 && seed%5 < 4 {
				fmt.Fprintf(&b, "%03d", r.IntN(400))
			}
			return []byte(b.String())
		}
		value := func() []byte {
			switch r.IntN(12) {
			case 0:
				return bytes.Repeat([]byte("v"), MaxValue)
			case 1:
				return bytes.Repeat([]byte("v"), forceBytes-r.IntN(8))
			case 2:
				return nil
			}
			return fmt.Append(nil, r.IntN(50))
		}
		d, _ := newDB()
		m, root := model{}, Empty
		for range 5 {
			edits := make([]Edit, 1+r.IntN(1<<r.IntN(8)))
			for i := range edits {
				if edits[i].Key = key(); r.IntN(3) > 0 {
					edits[i].Value = value()
				} else {
					edits[i].Delete = true
				}
			}
			m.apply(edits)
			var err error
			root, _, err = d.Apply(root, edits)
			check(t, err)
			sameAsBuilt(t, d, root, m)
		}
		for range 20 {
			k := key()
			c, p, err := d.Prove(root, k)
			check(t, err)
			if v, there := m[string(k)]; there == c.Absent || string(c.Value) != v {
				t.Fatalf("claim about %q: got %+v", k, c)
			}
			check(t, Verify(root, c, p))
			c.Absent, c.Value = !c.Absent, nil
			if Verify(root, c, p) == nil {
				t.Fatalf("the opposite is proved of %q", k)
			}
		}
	}
}
