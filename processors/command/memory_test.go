package command_test

import (
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestMemoryShowsInSpeedAlone processes a few lines in more places than are cached, for several
// users and shells and from several goroutines: each intent must equal the one made without a
// cache.
func TestMemoryShowsInSpeedAlone(t *testing.T) {
	lines := []string{
		"make test > out.log", "cd sub && cat notes.txt ~/todo $HOME/x", "git commit -m 'a b' && git push origin main",
		"sh -c 'cat inner.txt'", "for f in *.go; do wc -l \"$f\"; done", "if broken", "curl https://example.com/a | tee ./b",
	}
	memory := command.Remember()
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			for i := range 3000 {
				c := &recountv1.CommandExecuted{
					Command: lines[i%len(lines)], Cwd: fmt.Sprintf("/home/ada/src/%d", (i*7+g)%60),
					User: []string{"ada", "root", ""}[i%3], Shell: []string{"bash", "fish"}[i/11%2],
				}
				if i%5 == 0 {
					c.Command += fmt.Sprintf(" ./run-%d-%d", g, i)
				}
				var got, want recountv1.Record
				if err := memory.Intent(schemas.Event{}, c, &got); err != nil {
					t.Errorf("%q: %v", c.Command, err)
					return
				}
				if err := command.Intent(schemas.Event{}, c, &want); err != nil {
					t.Errorf("%q: %v", c.Command, err)
					return
				}
				if !proto.Equal(&got, &want) {
					t.Errorf("%q in %s: got %v, want %v", c.Command, c.Cwd, &got, &want)
					return
				}
			}
		})
	}
	wg.Wait()
}
