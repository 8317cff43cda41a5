package scope

import "testing"

// TestLongChainsOfClasses checks that the order of a class in a long chain is bounded, nearest bases first.
func TestLongChainsOfClasses(t *testing.T) {
	chain := make([]*Decl, 5000)
	for i := range chain {
		chain[i] = &Decl{}
		if i > 0 {
			chain[i].Bases = []Base{{Decl: chain[i-1]}}
		}
	}
	all := 0
	for i, d := range chain {
		order := d.Linearize(map[*Decl]bool{})
		all += len(order)
		for k, b := range order {
			if b.Decl != chain[i-k] {
				t.Fatalf("class %d: base %d is another one", i, k)
			}
		}
	}
	if last := chain[len(chain)-1].Order; len(last) != maxOrder || all > len(chain)*maxOrder {
		t.Errorf("the last has %d classes, all have %d", len(last), all)
	}
}
