package node_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// acknowledged records what a mixed load has been acknowledged.
type acknowledged struct {
	mu sync.Mutex
	// ids holds the ids of commands, agents' events and files by topic.
	ids map[string]map[schemas.EventID]bool
	// spans holds trace and span ids.
	spans map[string]bool
	// at holds the acknowledged positions; a repeated append must return the first one.
	at map[schemas.EventID]schemas.Position
	// again holds events to be sent once more in the next round.
	again   []schemas.Event
	moved   []string
	forgot  map[schemas.EventID]bool
	backups int
}

func (a *acknowledged) store(topic string, sent []schemas.Event, out []api.Appended) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, o := range out {
		a.ids[topic][o.ID] = true
		if was, twice := a.at[o.ID]; twice && was != o.Position {
			a.moved = append(a.moved, fmt.Sprintf("%s at %s, then %s", o.ID, was, o.Position))
		}
		a.at[o.ID] = o.Position
		if rand.IntN(4) == 0 {
			a.again = append(a.again, sent[i])
		}
	}
}

// TestSoakKillMixed kills a node's process under all kinds of load at once: commands over HTTP,
// Kafka and the spool, agents' events, files, spans, erasures and backups. What was acknowledged is
// sent again right after each start. Nothing is lost, nothing sent over HTTP or the spool is in the
// log twice, the projections and the graph equal a replay of the log, and a restored backup is
// complete. RECOUNT_SOAK=1 runs sixty rounds.
func TestSoakKillMixed(t *testing.T) {
	rounds := 2
	if os.Getenv("RECOUNT_SOAK") != "" {
		rounds = 60
	}
	dir, backup := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "backup")
	a := &acknowledged{
		ids: map[string]map[schemas.EventID]bool{
			schemas.TopicCommands: {}, schemas.TopicAgents: {}, schemas.TopicCommits: {},
			"spool": {}, "kafka": {},
		},
		spans: map[string]bool{}, at: map[schemas.EventID]schemas.Position{}, forgot: map[schemas.EventID]bool{},
	}
	for round := range rounds {
		cmd, c, otlp := spawn(t, dir)
		a.round(t, round, dir, backup, c, otlp, cmd.Process.Pid, func() {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // the process was killed
		})
	}
	cfg := config(dir)
	node.SealEarly(&cfg, 50)
	r := start(t, cfg)
	a.check(t, r)
	last, err := r.Client.Backup(t.Context(), api.BackupRequest{Dir: backup}, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := everyID(t, r.Log())
	r.stop()

	if _, wrong, err := node.VerifyBackup(t.Context(), backup, nil); err != nil || len(wrong) > 0 {
		t.Fatalf("the backup: %v %v", wrong, err)
	}
	again := filepath.Join(t.TempDir(), "restored")
	if _, err := node.Restore(t.Context(), backup, again, nil); err != nil {
		t.Fatal(err)
	}
	cfg = config(again)
	node.SealEarly(&cfg, 50)
	s := start(t, cfg)
	got := everyID(t, s.Log())
	for topic, ids := range held {
		if len(ids) != len(got[topic]) {
			t.Errorf("restored: %d events of %d in %s", len(got[topic]), len(ids), topic)
		}
	}
	verified(t, s.Client)
	t.Logf("%d rounds: %d commands by HTTP, %d by the spool, %d by Kafka, %d agents' events, %d contents, %d spans; %d erased, %d backups, the last of %d bytes",
		rounds, len(a.ids[schemas.TopicCommands]), len(a.ids["spool"]), len(a.ids["kafka"]), len(a.ids[schemas.TopicAgents]),
		len(a.ids[schemas.TopicCommits]), len(a.spans), len(a.forgot), a.backups+1, last.Bytes)
}

// round is one life of the process, from its start to its kill.
func (a *acknowledged) round(t *testing.T, round int, dir, backup string, c *httpapi.Client, otlp string, pid int, kill func()) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := make(chan struct{})
	first := sync.OnceFunc(func() { close(begun) })
	var wg sync.WaitGroup
	send := func(topic string, sent []schemas.Event) bool {
		out, err := c.Append(ctx, sent)
		if err == nil {
			a.store(topic, sent, out)
			first()
		}
		return err == nil
	}
	a.mu.Lock()
	again := a.again
	a.again = nil
	a.mu.Unlock()
	wg.Go(func() {
		for _, e := range again {
			kind, _ := e.Kind()
			if !send(kind.Topic, []schemas.Event{e}) {
				return
			}
		}
	})
	wg.Go(func() {
		for i := 0; ctx.Err() == nil && send(schemas.TopicCommands, killEvents(round, 0, i)); i++ {
		}
	})
	wg.Go(func() {
		for i := 0; ctx.Err() == nil && send(schemas.TopicAgents, []schemas.Event{ofAgent(fmt.Sprintf("round %d number %d", round, i))}); i++ {
		}
	})
	wg.Go(func() {
		for i := 0; ctx.Err() == nil && send(schemas.TopicCommits, []schemas.Event{contentEvent(round, i)}); i++ {
		}
	})
	wg.Go(func() { // by the spool, like the shell's hook, also while no server runs
		for i := 0; ctx.Err() == nil; i++ {
			e := killEvents(round, 1, i)[0]
			e.Time = time.Now().UTC()
			if err := spool.Append(spool.Dir(dir), node.SpoolEntry(e)); err != nil {
				t.Error(err)
				return
			}
			a.mu.Lock()
			a.ids["spool"][e.ID] = true
			a.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	})
	wg.Go(func() { a.kafka(ctx, dir, pid, round) })
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			m := exported("shop", (round*10_000+i)*5, 5)
			b, err := proto.Marshal(m)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := http.Post(otlp+"/v1/traces", "application/x-protobuf", bytes.NewReader(b))
			if err != nil {
				return
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				continue
			}
			a.mu.Lock()
			for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
				a.spans[string(s.TraceId)+string(s.SpanId)] = true
			}
			a.mu.Unlock()
		}
	})
	wg.Go(func() {
		if _, err := c.Backup(ctx, api.BackupRequest{Dir: backup}, nil); err == nil {
			a.mu.Lock()
			a.backups++
			a.mu.Unlock()
		}
	})
	if round%5 == 4 {
		wg.Go(func() { a.forget(ctx, t, c, round) })
	}
	select {
	case <-begun:
	case <-time.After(patience):
		t.Fatal("nothing was acknowledged")
	}
	time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
	kill()
	cancel()
	wg.Wait()
}

// kafka produces commands like any Kafka client.
func (a *acknowledged) kafka(ctx context.Context, dir string, pid, round int) {
	// Until this process serves, the file is that of the previous one.
	e, err := node.ReadEndpoints(dir)
	for ; err != nil || e.PID != pid; e, err = node.ReadEndpoints(dir) {
		if ctx.Err() != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	l, err := pipeline.Open(ctx, pipeline.Config{Brokers: []string{e.Kafka}, AppendTimeout: 5 * time.Second})
	if err != nil {
		return
	}
	defer l.Close()
	for i := 0; ctx.Err() == nil; i++ {
		ev := killEvents(round, 2, i)[0]
		ev.Time = time.Now().UTC()
		if _, err := l.Append(ctx, schemas.TopicCommands, ev); err != nil {
			return
		}
		a.mu.Lock()
		a.ids["kafka"][ev.ID] = true
		a.mu.Unlock()
	}
}

// forget erases one command that it appends itself.
func (a *acknowledged) forget(ctx context.Context, t *testing.T, c *httpapi.Client, round int) {
	e := killEvents(round, 3, 0)[0]
	if _, err := c.Append(ctx, []schemas.Event{e}); err != nil {
		return
	}
	a.mu.Lock()
	a.forgot[e.ID] = false
	a.mu.Unlock()
	if _, err := c.Forget(ctx, api.ForgetRequest{Events: []string{e.ID.String()}}, nil); err == nil {
		a.mu.Lock()
		a.forgot[e.ID] = true
		a.mu.Unlock()
	} else if ctx.Err() == nil && !strings.Contains(err.Error(), "EOF") {
		t.Logf("forget: %v", err)
	}
}

// check compares what was acknowledged with what is stored.
func (a *acknowledged) check(t *testing.T, r *running) {
	t.Helper()
	for began := time.Now(); !spool.Empty(spool.Dir(r.DataDir())) && time.Since(began) < patience; {
		time.Sleep(10 * time.Millisecond)
	}
	ends, err := r.Log().Ends(t.Context(), "commands", "agents", "commits", "spans")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	held := everyID(t, r.Log())
	lost, twice := 0, 0
	for group, topic := range map[string]string{
		schemas.TopicCommands: schemas.TopicCommands, schemas.TopicAgents: schemas.TopicAgents, schemas.TopicCommits: schemas.TopicCommits,
		"spool": schemas.TopicCommands, "kafka": schemas.TopicCommands,
	} {
		for id := range a.ids[group] {
			switch n := held[topic][id]; {
			case n == 0:
				lost++
				t.Errorf("%s: %s was acknowledged and is lost", group, id)
			case n > 1 && group != "kafka":
				twice++
				t.Errorf("%s: %s is in the log %d times", group, id, n)
			}
			if lost+twice > 10 {
				t.Fatal("and more")
			}
		}
	}
	seen, _ := spansInLog(t, r)
	for id := range a.spans {
		if !seen[id] {
			t.Fatalf("a span was acknowledged and is lost: %q", id)
		}
	}
	for _, m := range a.moved {
		t.Errorf("the second answer is not the first one's: %s", m)
	}
	for id, done := range a.forgot {
		if _, err := r.Client.Show(t.Context(), id.String()); done && err == nil {
			t.Errorf("%s was forgotten and is shown", id)
		}
	}
	verified(t, r.Client)
	if f, err := r.Client.Fsck(t.Context(), api.FsckRequest{}, nil); err != nil || !f.OK {
		t.Errorf("fsck: %+v %v", f, err)
	}
	if found, err := commands.FindQuestion.Ask(t.Context(), r.Client, commands.FindRequest{Text: "kill round"}); err != nil || len(found.Hits) == 0 {
		t.Errorf("find: %v", err)
	}
}

// everyID counts the occurrences of each id in a log, by topic.
func everyID(t *testing.T, l *pipeline.Log) map[string]map[schemas.EventID]int {
	t.Helper()
	all := map[string]map[schemas.EventID]int{}
	err := l.Tail(t.Context(), pipeline.TailOptions{Topics: []string{"commands", "agents", "commits", "spans"}, Last: -1}, func(lr schemas.LogRecord) error {
		topic := schemas.TopicName(lr.Position.Topic)
		if all[topic] == nil {
			all[topic] = map[schemas.EventID]int{}
		}
		if _, erased := lr.Erased(); erased {
			return nil
		}
		e, err := lr.Event()
		if err != nil {
			return err
		}
		all[topic][e.ID]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// contentEvent returns a commit with one file.
func contentEvent(round, i int) schemas.Event {
	id := fmt.Sprintf("%020d%020d", round+1, i+1)
	return schemas.Event{
		ID: schemas.NewCanon("kill commit").String(id).ID(), Type: schemas.TypeCommitRecorded, Key: []byte("kill"),
		Time:    time.Date(2026, 3, 1, 12, 0, i%60, 0, time.UTC),
		Payload: fmt.Appendf(nil, `{"repository":"kill","commit":%q,"message":"round %d","scope":"SCOPE_METADATA"}`, id, round),
	}
}
