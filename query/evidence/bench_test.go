package evidence_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// BenchmarkAsk queries 10,000 objects of one workspace, in sessions of a hundred steps that cause
// each other.
func BenchmarkAsk(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := newWorld(b)
	words := func(n int) (s string) {
		for range n {
			s += someWords[rng.IntN(len(someWords))] + fmt.Sprint(rng.IntN(40)) + " "
		}
		return s
	}
	for session := range 100 {
		var all []said
		for i := range 100 {
			m := &recountv1.AgentEvent{Text: words(20)}
			s := of(fmt.Sprintf("%d/%d", session, i), schemas.TypeAssistantMessage, session*100+i, fmt.Sprintf("%d/%d", session, i-1), m)
			m.Session = fmt.Sprint("s", session)
			all = append(all, s)
		}
		w.add(int32(session%4), all...)
	}
	for _, mode := range []string{evidence.ModeObjects, evidence.ModeEvidence} {
		b.Run(mode, func(b *testing.B) {
			for b.Loop() {
				w.ask(operator, evidence.Request{Text: words(4), Mode: mode})
			}
		})
	}
}
