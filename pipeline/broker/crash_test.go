package broker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

// The test binary, started with childDir set, runs as a broker process to be killed, which serves
// or does what childDo names (scale_test.go).
const (
	childDir = "RECOUNT_BROKER_CHILD_DIR"
	childDo  = "RECOUNT_BROKER_CHILD_DO"
	// childBulk sets Options.BulkBytes of the child.
	childBulk = "RECOUNT_BROKER_CHILD_BULK"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		run := child
		switch os.Getenv(childDo) {
		case "load":
			run = load
		case "measure":
			run = measure
		}
		if err := run(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child serves dir until its standard input ends.
func child(dir string) error {
	opts := broker.Options{Listen: []string{"127.0.0.1:0"}}
	if bulk, err := strconv.Atoi(os.Getenv(childBulk)); err == nil {
		opts.BulkBytes, opts.SegmentBytes = bulk, 1<<20
	}
	b, err := broker.Open(dir, opts)
	if err != nil {
		return err
	}
	fmt.Println(b.Addr())
	io.Copy(io.Discard, os.Stdin)
	return b.Close()
}

// process is a broker in its own process.
type process struct {
	cmd  *exec.Cmd
	addr string
}

func startProcess(t testing.TB, dir string, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childDir+"="+dir), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = stdin // kept open, so that the child ends with this process
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("the broker process did not start: %v", err)
	}
	return &process{cmd: cmd, addr: strings.TrimSpace(line)}
}

// kill is kill -9.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// acks records where each of a producer's values was acknowledged.
type acks struct {
	mu   sync.Mutex
	at   map[string]place
	pace int // records produced each millisecond
	errs []error
}

type place struct {
	partition int32
	offset    int64
}

func (a *acks) promise(r *kgo.Record, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.errs = append(a.errs, err)
		return
	}
	a.at[string(r.Value)] = place{r.Partition, r.Offset}
}

func (a *acks) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

// produceUntil produces numbered values until ctx ends, and returns how many. An idempotent kgo
// client retries each until it is acknowledged.
func (a *acks) produceUntil(ctx context.Context, c *kgo.Client, topic string) int {
	n := 0
	for ctx.Err() == nil {
		r := &kgo.Record{Topic: topic, Key: fmt.Append(nil, n%64), Value: fmt.Appendf(nil, "%d %0100d", n, n)}
		c.Produce(context.Background(), r, a.promise)
		n++
		if n%a.pace == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return n
}

// verify compares the log with what was acknowledged: it must have everything once, at its
// acknowledged place, in the order of each key.
func (a *acks) verify(t testing.TB, c *kgo.Client, topic string, sent int) {
	t.Helper()
	for _, err := range a.errs {
		t.Errorf("a produce failed for good: %v", err)
	}
	if len(a.at) != sent {
		t.Fatalf("%d of %d records acknowledged", len(a.at), sent)
	}
	ctx := testContext(t)
	ends, err := kadm.NewClient(c).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	ends.Each(func(o kadm.ListedOffset) { want += o.Offset })
	if want != int64(sent) {
		t.Errorf("the log holds %d records, %d were sent: records are lost or doubled", want, sent)
	}
	seen := map[string]place{}
	last := map[string]int{}
	c.AddConsumeTopics(topic)
	for int64(len(seen)) < want && ctx.Err() == nil {
		f := c.PollFetches(ctx)
		if err := f.Err(); err != nil {
			t.Fatalf("consume, after %d of %d: %v", len(seen), want, err)
		}
		f.EachRecord(func(r *kgo.Record) {
			v := string(r.Value)
			if at, twice := seen[v]; twice {
				t.Fatalf("%.10q is at %v and at %d/%d", v, at, r.Partition, r.Offset)
			}
			seen[v] = place{r.Partition, r.Offset}
			if at, ok := a.at[v]; !ok || at != seen[v] {
				t.Fatalf("%.10q is at %v, acknowledged at %v", v, seen[v], at)
			}
			var n int
			fmt.Sscan(v, &n)
			if before, ok := last[string(r.Key)]; ok && n < before {
				t.Fatalf("key %s: %d comes behind %d", r.Key, n, before)
			}
			last[string(r.Key)] = n
		})
	}
}

// rounds returns how many times a crash test crashes: few in a plain run, many with RECOUNT_SOAK=1.
func rounds(plain, soak int) int {
	if os.Getenv("RECOUNT_SOAK") == "1" {
		return soak
	}
	return plain
}

// crashClient returns a client that survives crashes: it retries quickly and for ever, and connects
// by dial.
func crashClient(t testing.TB, dial func(context.Context) (net.Conn, error)) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(
		kgo.SeedBrokers("broker:1"),
		kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }),
		kgo.ProducerLinger(0),
		kgo.RetryBackoffFn(func(int) time.Duration { return 5 * time.Millisecond }),
		kgo.MetadataMinAge(10*time.Millisecond),
		kgo.RetryTimeout(patience),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.UnknownTopicRetries(-1),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestSoakKill(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	var addr atomic.Value
	addr.Store(p.addr)
	c := crashClient(t, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", addr.Load().(string))
	})
	if _, err := kadm.NewClient(c).CreateTopic(testContext(t), 4, 1, nil, "log"); err != nil {
		t.Fatal(err)
	}
	a := &acks{at: map[string]place{}, pace: 20}
	ctx, stop := context.WithCancel(context.Background())
	sent := make(chan int)
	go func() { sent <- a.produceUntil(ctx, c, "log") }()
	n := rounds(6, 120)
	for round := range n {
		before := a.count()
		time.Sleep(time.Duration(20+rand.IntN(150)) * time.Millisecond)
		p.kill()
		// Two of three lives write to segment files, on top of what is in the store.
		var env []string
		if round%3 > 0 {
			env = append(env, fmt.Sprintf("%s=%d", childBulk, 1+rand.IntN(8<<10)))
		}
		p = startProcess(t, dir, env...)
		addr.Store(p.addr)
		if round%20 == 19 {
			t.Logf("%d kills, %d acknowledged", round+1, a.count())
		}
		for wait := time.Now(); a.count() == before && time.Since(wait) < patience; {
			time.Sleep(time.Millisecond)
		}
	}
	stop()
	total := <-sent
	if err := c.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.verify(t, c, "log", total)
	p.kill()

	// Finally open the directory in this process.
	b := open(t, dir, broker.Options{})
	if damage, err := b.Check(testContext(t)); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
	t.Logf("%d kills, %d records", n, total)
}

// errCut is the error of a client's socket when the machine at its other end is gone. It must be a
// network error, because kgo gives up buffered records at once if a metadata request ends in any
// other error.
var errCut = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
