package node_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

const childDir = "RECOUNT_TEST_CHILD_DIR"

// TestMain makes the test binary run as the node that a test kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(dir string) error {
	cfg := config(dir)
	node.SealEarly(&cfg, 50)
	n, err := node.Open(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println(n.Endpoints().HTTP, n.Endpoints().OTLPHTTP)
	return n.Run(context.Background())
}

// TestSoakKill repeatedly kills a node's process during appends. Everything acknowledged stays at
// its position and is found, and the projections equal a replay of the log. RECOUNT_SOAK=1 runs a
// hundred rounds.
func TestSoakKill(t *testing.T) {
	rounds := 3
	if os.Getenv("RECOUNT_SOAK") != "" {
		rounds = 100
	}
	dir := t.TempDir()
	acked := map[schemas.EventID]schemas.Position{}
	for round := range rounds {
		cmd, c, _ := spawn(t, dir)
		var mu sync.Mutex
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		begun := make(chan struct{})
		first := sync.OnceFunc(func() { close(begun) })
		for writer := range 4 {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					out, err := c.Append(ctx, killEvents(round, writer, i))
					if err != nil {
						return // the process was killed
					}
					mu.Lock()
					for _, a := range out {
						acked[a.ID] = a.Position
					}
					mu.Unlock()
					first()
				}
			})
		}
		select {
		case <-begun:
		case <-time.After(patience):
			t.Fatal("nothing was acknowledged")
		}
		time.Sleep(time.Duration(rand.IntN(250)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the process was killed
		cancel()
		wg.Wait()
	}
	cfg := config(dir)
	node.SealEarly(&cfg, 50)
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for id, pos := range acked {
		got, err := n.Show(t.Context(), id.String())
		if err != nil || got.Position != pos {
			t.Fatalf("acknowledged at %s: %s %v", pos, got.Position, err)
		}
	}
	v, err := n.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK {
		t.Errorf("verify: %+v %v", v, err)
	}
	st, err := n.Status(t.Context(), api.StatusRequest{})
	if err != nil || st.Intents.Count < int64(len(acked)) {
		t.Errorf("%d commands of %d acknowledged: %v", st.Intents.Count, len(acked), err)
	}
	if r, err := commands.FindQuestion.Ask(t.Context(), n, commands.FindRequest{Text: "kill round"}); err != nil || len(r.Hits) == 0 {
		t.Errorf("find: %v", err)
	}
	t.Logf("%d rounds, %d acknowledged, %d commands", rounds, len(acked), st.Intents.Count)
}

func killEvents(round, writer, i int) []schemas.Event {
	var out []schemas.Event
	for k := range 3 {
		command := fmt.Sprintf("kill round %d writer %d number %d.%d", round, writer, i, k)
		out = append(out, schemas.Event{
			ID: schemas.NewCanon("kill").String(command).ID(), Type: schemas.TypeCommandExecuted, Key: fmt.Appendf(nil, "%d", writer),
			Payload: fmt.Appendf(nil, `{"command":%q}`, command),
		})
	}
	return out
}

// spawn starts a node in its own process and returns a client of its API and the URL of its
// receiver of spans.
func spawn(t *testing.T, dir string) (cmd *exec.Cmd, c *httpapi.Client, otlp string) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		t.Fatalf("the child did not start: %v", err)
	}
	api, otlp, _ := strings.Cut(strings.TrimSpace(line), " ")
	if c, err = httpapi.NewClient(api, "", nil); err != nil {
		t.Fatal(err)
	}
	return cmd, c, otlp
}
