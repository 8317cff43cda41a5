package node_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

const secret = "correct-horse-battery-staple"

// holding returns the files below dir that contain the secret.
func holding(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, []byte(secret)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// tell appends events with the secret in every possible place, and returns the command's event.
func tell(t *testing.T, r *running) (schemas.Event, api.Appended) {
	t.Helper()
	command := events("psql -c " + secret)[0]
	command.Source = "https://example.com/" + secret
	out, err := r.Client.Append(t.Context(), []schemas.Event{command, {
		Type: schemas.TypeOutcomeObserved, Key: []byte("/src/app"),
		Payload: fmt.Appendf(nil, `{"command_event_id":%q,"exit_code":1,"output_tail":"no such database"}`, command.ID),
	}})
	if err != nil {
		t.Fatal(err)
	}
	// Two tenants' agents use one id.
	for _, tenant := range []string{"acme", "globex"} {
		said := fmt.Sprintf(`{"tenant":%q,"workspace":"w","agent":"ada","session":"s1","text":"hello from %s"}`, tenant, tenant)
		if tenant == "acme" {
			said = strings.ReplaceAll(said, "hello", "the password is "+secret)
		}
		e := schemas.Event{ID: schemas.NewCanon("test").String("shared").ID(), Type: schemas.TypeUserMessage, Payload: []byte(said)}
		if _, err := r.Client.Append(t.Context(), []schemas.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	// A record that is not an event is copied to the rejected topic.
	raw := schemas.LogRecord{Position: schemas.Position{Topic: "commands", Partition: -1}, Key: []byte(secret), Value: []byte(`{"command":7,"x":"` + secret + `"}`)}
	if _, err := r.Log().Produce(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commands", "recount.agents")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	return command, out[0]
}

func verified(t *testing.T, b api.Backend) {
	t.Helper()
	v, err := b.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK {
		t.Errorf("verify: %+v %v", v, err)
	}
}

// TestForget checks that forgotten events are in no file and in no answer, are not rejected for
// having no content, and do not come back with the next import.
func TestForget(t *testing.T) {
	cfg := config(t.TempDir())
	node.SealEarly(&cfg, 50)
	r := start(t, cfg)
	r.append(t, many(120)...)
	command, appended := tell(t, r)
	r.append(t, many(200)...)
	if len(holding(t, cfg.DataDir)) == 0 {
		t.Fatal("the secret is in no file to begin with")
	}
	if s, err := r.Client.Show(t.Context(), strings.TrimPrefix(appended.Position.String(), "recount.")); err != nil || s.ID != command.ID {
		t.Errorf("show by the topic's short name: %+v %v", s.Intent, err)
	}
	ask := api.ForgetRequest{Pattern: "correct-horse-[a-z]+", Reason: "a password", DryRun: true}
	dry, err := r.Client.Forget(t.Context(), ask, nil)
	if err != nil || dry.Events != 5 || len(dry.Topics) != 3 || len(dry.Erasures) != 0 {
		t.Fatalf("dry run: %+v %v", dry, err)
	}
	for _, s := range dry.Sample {
		if strings.Contains(fmt.Sprint(s), secret) {
			t.Errorf("the sample tells the secret: %+v", s)
		}
	}
	if len(r.find(t, commands.FindRequest{Text: "psql"}).Hits) != 1 {
		t.Error("the dry run erased it")
	}

	ask.DryRun = false
	var phases []string
	done, err := r.Client.Forget(t.Context(), ask, func(p api.Progress) { phases = append(phases, p.Phase) })
	if err != nil || done.Events != 5 || done.Log != "rewritten" || len(done.Erasures) != 1 || len(done.Rebuilt) != 6 || len(phases) == 0 {
		t.Fatalf("%+v %v", done, err)
	}
	check := func(b api.Backend) {
		t.Helper()
		if found := holding(t, cfg.DataDir); len(found) > 0 {
			t.Errorf("the secret is still in %v", found)
		}
		if hits, err := commands.FindQuestion.Ask(t.Context(), b, commands.FindRequest{Text: "psql"}); err != nil || len(hits.Hits) != 0 {
			t.Errorf("find: %+v %v", hits.Hits, err)
		}
		short := strings.TrimPrefix(appended.Position.String(), "recount.") // as pages write it
		for _, ref := range []string{appended.Position.String(), short, command.ID.String()} {
			_, err := b.Show(t.Context(), ref)
			var gone *query.ErasedError
			if !errors.As(err, &gone) || gone.By != done.Erasures[0] || gone.Position != appended.Position || gone.At.IsZero() || gone.Reason != "a password" {
				t.Errorf("show %s: %v", ref, err)
			}
			if _, err := commands.WhyQuestion.Ask(t.Context(), b, commands.WhyRequest{Ref: ref}); !errors.As(err, &gone) {
				t.Errorf("why %s: %v", ref, err)
			}
			if _, err := commands.StitchQuestion.Ask(t.Context(), b, commands.StitchRequest{Ref: ref}); !errors.As(err, &gone) {
				t.Errorf("stitch %s: %v", ref, err)
			}
		}
		if v, err := b.Verify(t.Context(), api.VerifyRequest{}, nil); err != nil || !v.OK || v.Erased != 5 {
			t.Errorf("verify: %+v %v", v, err)
		}
		again, err := b.Append(t.Context(), []schemas.Event{command})
		if err != nil || !again[0].Duplicate || again[0].Position != appended.Position {
			t.Errorf("imported again: %+v %v", again, err)
		}
	}
	check(r.Client)
	lr, err := r.Log().Read(t.Context(), appended.Position)
	if e, ok := lr.Erased(); err != nil || !ok || e.By != done.Erasures[0] || lr.Key != nil {
		t.Errorf("the record is %+v, %v", lr, err)
	}
	// The pattern may be the secret, so the log keeps its hash.
	kept, err := r.Log().Read(t.Context(), done.Erasures[0])
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(ask.Pattern))); err != nil || bytes.Contains(kept.Value, []byte(ask.Pattern)) || !bytes.Contains(kept.Value, []byte(sum)) {
		t.Errorf("the erasure says %q, %v; want the pattern's hash %s in it", kept.Value, err, sum)
	}
	if st, err := r.Client.Status(t.Context(), api.StatusRequest{}); err != nil || st.Log.Rejected != 1 {
		t.Errorf("%d rejected, want the 1 from before: %v", st.Log.Rejected, err)
	}

	// Asking again by name finds nothing left, and appends nothing.
	twice, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{command.ID.String(), "recount.commands/0/99999"}}, nil)
	if err != nil || twice.Events != 0 || twice.Before != 1 || len(twice.Missing) != 1 || len(twice.Erasures) != 0 {
		t.Errorf("twice: %+v %v", twice, err)
	}
	r.stop()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	check(n)
}

// TestForgetShowsNothingMeanwhile checks that no answer to any question shows erased events, from
// their erasure's append to the log until the projections are rebuilt. Questions about other events
// are answered meanwhile.
func TestForgetShowsNothingMeanwhile(t *testing.T) {
	r := start(t, config(t.TempDir()))
	r.append(t, many(40)...)
	command, appended := tell(t, r)
	r.append(t, "make test", "make test -v")
	ends, err := r.Log().Ends(t.Context(), "recount.commands", "recount.agents")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	questions := map[string]func() (any, error){
		"find": func() (any, error) {
			return commands.FindQuestion.Ask(t.Context(), r.Client, commands.FindRequest{Text: "psql"})
		},
		"show": func() (any, error) { return r.Client.Show(t.Context(), appended.Position.String()) },
		"why the next": func() (any, error) {
			return commands.WhyQuestion.Ask(t.Context(), r.Client, commands.WhyRequest{Ref: events("make test")[0].ID.String()})
		},
		"stitch": func() (any, error) {
			return commands.StitchQuestion.Ask(t.Context(), r.Client, commands.StitchRequest{Ref: events("make test")[0].ID.String()})
		},
		"insights": func() (any, error) {
			return commands.InsightsQuestion.Ask(t.Context(), r.Client, commands.InsightsRequest{})
		},
		"stats": func() (any, error) {
			return commands.StatsQuestion.Ask(t.Context(), r.Client, commands.StatisticsRequest{})
		},
		"ask": func() (any, error) {
			return evidence.Question.Ask(t.Context(), r.Client, evidence.Request{Text: "password", Mode: "evidence", Include: []string{"proof"}})
		},
		"scan": func() (any, error) {
			var b bytes.Buffer
			err := r.Client.Scan(t.Context(), api.ScanRequest{Format: api.FormatNDJSON}, &b)
			return b.String(), err
		},
		"follow": func() (any, error) {
			const left = 42 // number of commands
			var got []any
			err := r.Client.Follow(t.Context(), commands.FollowRequest{From: schemas.Watermark{appended.Position.TP(): 0}, Limit: left}, func(f commands.Followed) error {
				got = append(got, f.Command)
				return nil
			})
			return got, err
		},
	}
	tells := func(name string) (bool, error) {
		t.Helper()
		answer, err := questions[name]()
		text, merr := json.Marshal(answer)
		if merr != nil {
			t.Fatal(merr)
		}
		return bytes.Contains(text, []byte(secret)) || err != nil && strings.Contains(err.Error(), secret), err
	}
	for name := range questions {
		if told, err := tells(name); !told && name != "insights" && name != "stats" && name != "why the next" || err != nil {
			t.Errorf("%s before: told %v, %v", name, told, err)
		}
	}
	phases, refused := map[string]bool{}, map[string]bool{}
	_, err = r.Node.Forget(t.Context(), api.ForgetRequest{Events: []string{command.ID.String(), "recount.agents/0/0", "recount.agents/1/0", "recount.agents/2/0", "recount.agents/3/0"}}, func(p api.Progress) {
		if _, durable := r.Log().ErasedAt(appended.Position); !durable || phases[p.Phase] {
			return // the search is running
		}
		phases[p.Phase] = true
		for name := range questions {
			told, err := tells(name)
			var answered *httpapi.APIError
			switch {
			case told:
				t.Errorf("%s tells it during %q", name, p.Phase)
			case errors.As(err, &answered) && answered.Status == 503:
				refused[name] = true
			case err != nil && name != "show":
				t.Errorf("%s during %q: %v", name, p.Phase, err)
			}
		}
		if hits, err := commands.FindQuestion.Ask(t.Context(), r.Client, commands.FindRequest{Text: "make test"}); err != nil || len(hits.Hits) == 0 {
			t.Errorf("what rests on other events, during %q: %v", p.Phase, err)
		}
	})
	if err != nil || !refused["find"] || !refused["stats"] || !refused["ask"] || !refused["scan"] || refused["follow"] {
		t.Errorf("refused %v in %v, %v", refused, phases, err)
	}
	for name := range questions {
		if told, err := tells(name); told || err != nil && name != "show" {
			t.Errorf("%s afterwards: told %v, %v", name, told, err)
		}
	}
}

// TestForgetSession checks that a session is erased as a whole, with the outcomes of its commands,
// and nothing else.
func TestForgetSession(t *testing.T) {
	r := start(t, config(t.TempDir()))
	tell(t, r)
	other := events("make test")[0]
	other.Payload = []byte(`{"command":"make test","session":"s2"}`)
	if _, err := r.Client.Append(t.Context(), []schemas.Event{other}); err != nil {
		t.Fatal(err)
	}
	done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Session: "s1", Tenant: "acme"}, nil)
	if err != nil || done.Events != 1 || !strings.Contains(done.Sample[0].Text, "acme") {
		t.Fatalf("a tenant's: %+v %v", done, err)
	}
	// The other tenant's event with the same id is a different one, and may still be appended.
	again := schemas.Event{ID: schemas.NewCanon("test").String("shared").ID(), Type: schemas.TypeUserMessage, Payload: []byte(`{"tenant":"initech","text":"hello"}`)}
	if out, err := r.Client.Append(t.Context(), []schemas.Event{again}); err != nil || out[0].Duplicate {
		t.Errorf("a third tenant's: %+v %v", out, err)
	}
	done, err = r.Client.Forget(t.Context(), api.ForgetRequest{Session: "s1"}, nil)
	if err != nil || done.Events != 3 || done.Sample[2].With == "" || done.Sample[0].Text == "" {
		t.Fatalf("%+v %v", done, err)
	}
	if hits := r.find(t, commands.FindRequest{}); len(hits.Hits) != 1 || hits.Hits[0].Command != "make test" {
		t.Errorf("left: %v", commandsOf(hits))
	}
	verified(t, r.Client)
}

func TestForgetRefuses(t *testing.T) {
	r := start(t, config(t.TempDir()))
	r.append(t, many(30)...)
	commit := schemas.Event{Type: schemas.TypeRefMoved, Payload: []byte(`{"repository":"shop","ref":"refs/heads/` + secret + `","target":"` + strings.Repeat("0", 40) + `"}`)}
	if _, err := r.Client.Append(t.Context(), []schemas.Event{commit}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ask  api.ForgetRequest
		want string
	}{
		"nothing":              {api.ForgetRequest{}, "want exactly one of"},
		"two at once":          {api.ForgetRequest{Session: "s1", Pattern: "x"}, "want exactly one of"},
		"no expression":        {api.ForgetRequest{Pattern: secret + "["}, "not a regular expression"},
		"everything":           {api.ForgetRequest{Pattern: "x*"}, "matches the empty text"},
		"too much":             {api.ForgetRequest{Session: "s1", Limit: 29}, "30 events match"},
		"no such topic":        {api.ForgetRequest{Session: "s1", Topics: []string{"nope"}}, "want some of"},
		"the erasures":         {api.ForgetRequest{Session: "s1", Topics: []string{"erasures"}}, "want some of"},
		"a reason too long":    {api.ForgetRequest{Session: "s1", Reason: strings.Repeat("x", 5000)}, ""},
		"more asked than fits": {api.ForgetRequest{Events: make([]string, 1001)}, ""},
	} {
		_, err := r.Client.Forget(t.Context(), test.ask, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Pattern: secret}, nil)
	if err != nil || done.Events != 0 || done.Kept != 1 || done.Explanation == "" {
		t.Errorf("a commit's: %+v %v", done, err)
	}
	if ends, err := r.Log().Ends(t.Context(), schemas.TopicErasures); err != nil || distanceOf(ends) != 0 {
		t.Errorf("erasures up to %s: %v", ends, err)
	}
	if _, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeErased, Payload: []byte(`{"events":[{"position":{"topic":"recount.commands"},"sha256":"` + strings.Repeat("A", 43) + `="}]}`)}}); err == nil {
		t.Error("who may append may erase")
	}
}

func distanceOf(w schemas.Watermark) (n int64) {
	for _, end := range w {
		n += end
	}
	return n
}

// TestForgetOfAnotherLog checks that an erasure whose checksum does not match the record erases
// nothing.
func TestForgetOfAnotherLog(t *testing.T) {
	r := start(t, config(t.TempDir()))
	at := r.append(t, "make test")[0].Position
	payload := fmt.Sprintf(`{"events":[{"position":{"topic":%q,"partition":%d,"offset":%d},"sha256":"%s="}]}`, at.Topic, at.Partition, at.Offset, strings.Repeat("A", 43))
	if _, err := r.Log().Append(t.Context(), schemas.TopicErasures, schemas.Event{
		Type: schemas.TypeErased, Source: "test", Time: time.Now(), ContentType: schemas.ContentJSON, Payload: []byte(payload), Key: []byte("x"),
	}); err != nil {
		t.Fatal(err)
	}
	r.append(t, "git push")
	if _, err := r.Client.Forget(t.Context(), api.ForgetRequest{Pattern: "push"}, nil); err != nil {
		t.Fatal(err)
	}
	if hits := r.find(t, commands.FindRequest{}); len(hits.Hits) != 1 || hits.Hits[0].Command != "make test" {
		t.Errorf("left: %v", commandsOf(hits))
	}
}

// TestForgetWhileWriting forgets events while others are appended: acknowledged events stay,
// forgotten ones are gone, and the state equals a replay of the log.
func TestForgetWhileWriting(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := map[schemas.EventID]schemas.Position{}
	for writer := range 3 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				began := time.Now()
				out, err := r.Client.Append(ctx, killEvents(0, writer, i))
				if err != nil {
					return
				}
				mu.Lock()
				for _, a := range out {
					acked[a.ID] = a.Position
				}
				mu.Unlock()
				// Leave CPU time for the erasures, and more of it where appends are slow: what is
				// appended makes the erasures longer, which makes room for more appends.
				time.Sleep(5*time.Millisecond + time.Since(began))
			}
		})
	}
	gone := map[schemas.EventID]bool{}
	for i := range 4 {
		out := r.append(t, fmt.Sprintf("login %s %d", secret, i))
		gone[out[0].ID] = true
		// Forget it at once, when it may not be projected yet.
		done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{out[0].ID.String()}}, nil)
		if err != nil || done.Events != 1 {
			t.Fatalf("%+v %v", done, err)
		}
		if found := holding(t, cfg.DataDir); len(found) > 0 {
			t.Errorf("the secret is still in %v", found)
		}
	}
	cancel()
	wg.Wait()
	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	for id, at := range acked {
		if got, err := r.Client.Show(t.Context(), id.String()); err != nil || got.Position != at {
			t.Fatalf("acknowledged at %s: %s %v", at, got.Position, err)
		}
	}
	if hits := r.find(t, commands.FindRequest{Text: "login"}); len(hits.Hits) != 0 {
		t.Errorf("left: %v", commandsOf(hits))
	}
	verified(t, r.Client)
	t.Logf("%d appended beside %d erasures", len(acked), len(gone))
}

// TestSoakForgetKill checks that a process killed at any moment of an erasure finishes it at the
// next start, or has not begun it. RECOUNT_SOAK=1 runs fifty rounds.
func TestSoakForgetKill(t *testing.T) {
	rounds := 3
	if os.Getenv("RECOUNT_SOAK") != "" {
		rounds = 50
	}
	begun, finished := 0, 0
	for range rounds {
		dir := t.TempDir()
		cmd, c, _ := spawn(t, dir)
		if _, err := c.Append(t.Context(), events(many(150)...)); err != nil {
			t.Fatal(err)
		}
		out, err := c.Append(t.Context(), events("login "+secret))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := c.Forget(t.Context(), api.ForgetRequest{Session: "s1", Limit: 1000}, nil)
			ended <- err
		}()
		select {
		case <-ended:
			finished++
		case <-time.After(time.Duration(rand.IntN(300)) * time.Millisecond):
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the process was killed
		cfg := config(dir)
		node.SealEarly(&cfg, 50)
		n, err := node.OpenLocal(t.Context(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ends, err := n.Log().Ends(t.Context(), schemas.TopicErasures)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := commands.FindQuestion.Ask(t.Context(), n, commands.FindRequest{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if distanceOf(ends) > 0 {
			begun++
			if found := holding(t, dir); len(found) > 0 || len(hits.Hits) != 0 {
				t.Errorf("%d commands, and the secret is in %v", len(hits.Hits), found)
			}
			if _, ok := n.Log().ErasedAt(out[0].Position); !ok {
				t.Error("the log does not know it for erased")
			}
		} else if len(hits.Hits) == 0 {
			t.Error("all is gone, and nobody says why")
		}
		verified(t, n)
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d kills, %d behind the erasure on the log, %d behind its end", rounds, begun, finished)
}

// TestForgetAcrossProcesses checks that with separate processes for log, processors and projections
// each does its part: the broker's files, the records on the derived topic and the projections lose
// forgotten events.
func TestForgetAcrossProcesses(t *testing.T) {
	front := config(t.TempDir())
	front.Roles = []string{node.RoleLog, node.RoleIngest}
	a := start(t, front)
	brokers := node.KafkaConfig{Brokers: []string{a.KafkaAddr()}}
	middle := config(t.TempDir())
	middle.Roles, middle.Kafka = []string{node.RoleProcess}, brokers
	start(t, middle)
	back := config(t.TempDir())
	back.Roles, back.Kafka = []string{node.RoleProject, node.RoleServe}, brokers
	c := start(t, back)

	a.append(t, "login "+secret, "make test")
	if hits := c.find(t, commands.FindRequest{}); len(hits.Hits) != 2 {
		t.Fatalf("%v", commandsOf(hits))
	}
	done, err := c.Client.Forget(t.Context(), api.ForgetRequest{Pattern: secret}, nil)
	if err != nil || done.Events != 2 || done.Log != "outside" {
		t.Fatalf("%+v %v", done, err)
	}
	if hits := c.find(t, commands.FindRequest{}); len(hits.Hits) != 1 {
		t.Errorf("left: %v", commandsOf(hits))
	}
	if found := holding(t, back.DataDir); len(found) > 0 {
		t.Errorf("projections: the secret is in %v", found)
	}
	for began := time.Now(); len(holding(t, front.DataDir)) > 0 && time.Since(began) < patience; {
		time.Sleep(10 * time.Millisecond)
	}
	if found := holding(t, front.DataDir); len(found) > 0 {
		t.Errorf("the log: the secret is in %v", found)
	}
	verified(t, c.Client)
}

// TestForgetOnBrokersOfOthers checks that external brokers keep their bytes, and that nothing here
// reads them, neither now nor after a rebuild.
func TestForgetOnBrokersOfOthers(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	cfg := config(t.TempDir())
	cfg.Kafka = node.KafkaConfig{Brokers: k.ListenAddrs()}
	r := start(t, cfg)
	at := r.append(t, "login "+secret, "make test")[0].Position
	r.find(t, commands.FindRequest{})
	done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Pattern: secret}, nil)
	if err != nil || done.Events != 1 || done.Log != "outside" || done.Explanation == "" {
		t.Fatalf("%+v %v", done, err)
	}
	fresh := config(t.TempDir())
	fresh.Kafka = cfg.Kafka
	for _, n := range []*running{r, start(t, fresh)} {
		if hits := n.find(t, commands.FindRequest{}); len(hits.Hits) != 1 {
			t.Errorf("left: %v", commandsOf(hits))
		}
		if found := holding(t, n.DataDir()); len(found) > 0 {
			t.Errorf("the secret is in %v", found)
		}
		verified(t, n.Client)
		if lr, err := n.Log().Read(t.Context(), at); err != nil || len(lr.Value) > 0 {
			t.Errorf("the log gives %q, %v", lr.Value, err)
		}
		again, err := n.Client.Forget(t.Context(), api.ForgetRequest{Pattern: secret}, nil)
		if err != nil || again.Events != 0 {
			t.Errorf("again: %+v %v", again, err)
		}
	}
}

// holdingCompressed returns the files below dir that contain the secret in a frame of zstd, or in a
// nested one: an event's content within a batch within a block.
func holdingCompressed(t testing.TB, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && framesHold(t, data, 3) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func framesHold(t testing.TB, data []byte, depth int) bool {
	t.Helper()
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	for at := 0; depth > 0; at++ {
		i := bytes.Index(data[at:], []byte{0x28, 0xb5, 0x2f, 0xfd})
		if i < 0 {
			return false
		}
		at += i
		if err := dec.Reset(bytes.NewReader(data[at:])); err != nil {
			continue
		}
		// What follows the frame is not zstd: what was read before the error counts.
		text, _ := io.ReadAll(io.LimitReader(dec, 1<<20))
		if bytes.Contains(text, []byte(secret)) || framesHold(t, text, depth-1) {
			return true
		}
	}
	return false
}

// TestForgetFileOfACommit checks that a secret in a file of a commit is erased from the log, whose
// events hold it compressed, and from the code graph, which keeps all other files and reports that
// this one's content is missing.
func TestForgetFileOfACommit(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	revised := func(path, content string) (schemas.Event, *recountv1.FileChange) {
		blob := source.BlobID([]byte(content), false)
		m := &recountv1.SourceRevised{Repository: "shop", Blob: blob, Path: path, Size: int64(len(content)), ContentZstd: schemas.Compress([]byte(content))}
		payload, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return schemas.Event{ID: schemas.NewCanon("test").String(path).ID(), Type: schemas.TypeSourceRevised, Key: []byte("shop"), ContentType: schemas.ContentProto, Payload: payload},
			&recountv1.FileChange{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: blob, Size: m.Size}
	}
	body := "package shop\n\n// " + strings.Repeat("what stands here is long enough to be compressed ", 5) + "\nfunc Pay() { connect(\"" + secret + "\") }\n"
	a, changeA := revised("pay.go", body)
	again, changeAgain := revised("pay.txt", body)
	b, changeB := revised("cart.go", "package shop\n\nfunc Cart() { Pay() }\n")
	commit := &recountv1.CommitRecorded{
		Repository: "shop", Commit: strings.Repeat("c", 40), Message: "pay", Scope: recountv1.Scope_SCOPE_FULL,
		Changes: []*recountv1.FileChange{changeB, changeA, changeAgain},
	}
	payload, err := proto.Marshal(commit)
	if err != nil {
		t.Fatal(err)
	}
	closed := schemas.Event{Type: schemas.TypeCommitRecorded, Key: []byte("shop"), ContentType: schemas.ContentProto, Payload: payload}
	out, err := r.Client.Append(t.Context(), []schemas.Event{a, again, b, closed})
	if err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commits")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	if len(append(holding(t, cfg.DataDir), holdingCompressed(t, cfg.DataDir)...)) == 0 {
		t.Fatal("the secret is in no file to begin with")
	}

	done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{out[0].Position.String()}, Reason: "a password"}, nil)
	if err != nil || done.Events != 2 || done.Kept != 0 || !slices.Contains(done.Rebuilt, "graph/code") && !slices.Contains(done.Rebuilt, "code") {
		t.Fatalf("%+v %v", done, err)
	}
	check := func(b api.Backend) {
		t.Helper()
		if found := append(holding(t, cfg.DataDir), holdingCompressed(t, cfg.DataDir)...); len(found) > 0 {
			t.Errorf("the secret is still in %v", found)
		}
		if v, err := b.Verify(t.Context(), api.VerifyRequest{}, nil); err != nil || !v.OK || v.Erased != 2 {
			t.Errorf("verify: %+v %v", v, err)
		}
		back, err := b.Append(t.Context(), []schemas.Event{a})
		if err != nil || !back[0].Duplicate {
			t.Errorf("imported again: %+v %v", back, err)
		}
	}
	check(r.Client)
	if none, err := r.Client.Forget(t.Context(), api.ForgetRequest{Pattern: secret, DryRun: true}, nil); err != nil || none.Events != 0 {
		t.Errorf("by pattern: %+v %v", none, err)
	}
	r.stop()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	check(n)
}

// TestForgetFileByPattern checks that a pattern matches the compressed content of a file's event.
func TestForgetFileByPattern(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	content := strings.Repeat("# "+secret+"\n", 20)
	payload, err := proto.Marshal(&recountv1.SourceRevised{Repository: "shop", Blob: source.BlobID([]byte(content), false), Path: "a.py", ContentZstd: schemas.Compress([]byte(content))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Client.Append(t.Context(), []schemas.Event{{Type: schemas.TypeSourceRevised, Key: []byte("shop"), ContentType: schemas.ContentProto, Payload: payload}}); err != nil {
		t.Fatal(err)
	}
	done, err := r.Client.Forget(t.Context(), api.ForgetRequest{Pattern: "correct-horse-[a-z]+"}, nil)
	if err != nil || done.Events != 1 || done.Kept != 0 {
		t.Fatalf("%+v %v", done, err)
	}
	if found := append(holding(t, cfg.DataDir), holdingCompressed(t, cfg.DataDir)...); len(found) > 0 {
		t.Errorf("the secret is still in %v", found)
	}
}
