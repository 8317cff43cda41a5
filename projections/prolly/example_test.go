package prolly_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/recountdb/recount/projections/prolly"
)

func set(key, value string) prolly.Edit {
	return prolly.Edit{Key: []byte(key), Value: []byte(value)}
}

// Example shows that the order and the batches of edits do not affect the root.
func Example() {
	d := prolly.New(prolly.NewMemory(), prolly.Options{})
	one, _, err := d.Apply(prolly.Empty, []prolly.Edit{set("b", "2"), set("a", "1"), set("c", "3")})
	if err != nil {
		fmt.Println(err)
		return
	}
	two, _, _ := d.Apply(prolly.Empty, []prolly.Edit{set("c", "3"), set("x", "9")})
	two, _, _ = d.Apply(two, []prolly.Edit{set("a", "1"), set("b", "2"), {Key: []byte("x"), Delete: true}})
	fmt.Println(one == two)

	m, _ := d.Map(one)
	for e, err := range m.Range([]byte("b"), nil) {
		fmt.Printf("%s=%s %v\n", e.Key, e.Value, err)
	}
	// Output:
	// true
	// b=2 <nil>
	// c=3 <nil>
}

func ExampleDB_Diff() {
	d := prolly.New(prolly.NewMemory(), prolly.Options{})
	old, _, _ := d.Apply(prolly.Empty, []prolly.Edit{set("a", "1"), set("b", "2"), set("c", "3")})
	next, stats, _ := d.Apply(old, []prolly.Edit{set("a", "one"), {Key: []byte("b"), Delete: true}, set("d", "4")})
	fmt.Println(stats.Added, stats.Changed, stats.Deleted)
	for c, err := range d.Diff(old, next) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s: %q, %q\n", c.Kind, c.Key, c.Old, c.New)
	}
	// Output:
	// 1 1 1
	// changed a: "1", "one"
	// deleted b: "2", ""
	// added d: "", "4"
}

// ExampleVerify sends a proof to a reader who has only the root.
func ExampleVerify() {
	d := prolly.New(prolly.NewMemory(), prolly.Options{})
	root, _, _ := d.Apply(prolly.Empty, []prolly.Edit{set("alice", "1"), set("bob", "2"), set("carol", "3")})
	for _, key := range []string{"bob", "dave"} {
		claim, proof, err := d.Prove(root, []byte(key))
		if err != nil {
			fmt.Println(err)
			return
		}
		sent, _ := json.Marshal(proof)

		var received prolly.Proof
		if err := json.Unmarshal(sent, &received); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(key, "absent:", claim.Absent, prolly.Verify(root, claim, &received))
		claim.Absent = !claim.Absent
		claim.Value = nil
		fmt.Println(key, "absent:", claim.Absent, prolly.Verify(root, claim, &received) != nil)
	}
	// Output:
	// bob absent: false <nil>
	// bob absent: true true
	// dave absent: true <nil>
	// dave absent: false true
}

// ExampleMarks deletes the chunks of snapshots that are not kept.
func ExampleMarks() {
	store := prolly.NewMemory()
	d := prolly.New(store, prolly.Options{})
	old, _, _ := d.Apply(prolly.Empty, []prolly.Edit{set("a", "1")})
	kept, _, _ := d.Apply(old, []prolly.Edit{set("b", "2")})

	marks := d.Marks()
	if err := marks.Add(context.Background(), kept); err != nil {
		fmt.Println(err)
		return
	}
	for chunk := range store.Refs() {
		if !marks.Has(chunk.Hash) {
			_ = store.Delete([]prolly.Ref{chunk})
		}
	}
	chunks, _ := store.Size()
	fmt.Println(chunks)
	// Output: 1
}
