package embed_test

import (
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/embed"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestMemoryShowsInSpeedAlone embeds more commands than are cached, most of them repeatedly, from
// several goroutines: each result must equal that of the embedder without a cache.
func TestMemoryShowsInSpeedAlone(t *testing.T) {
	plain, memory := embed.NewHash(), embed.Remember(embed.NewHash())
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			for i := range 4500 {
				name := fmt.Sprint(i % 50)
				if i%3 == 0 {
					name = fmt.Sprintf("%d-%d", g, i)
				}
				in := &recountv1.Intent{Command: "rm report-" + name, Concepts: []string{"left over"}}
				switch i % 50 {
				case 7:
					in.StatedIntent = fmt.Sprintf("throw away report %d", g)
				case 11:
					in.Command = "" // without an embedding
				}
				want := &recountv1.Intent{Command: in.Command, StatedIntent: in.StatedIntent}
				embed.Intent(want, plain)
				embed.Intent(in, memory)
				if !proto.Equal(in, want) {
					t.Errorf("%q: got %v, want %v", in.Command, in, want)
					return
				}
			}
		})
	}
	wg.Wait()
}
