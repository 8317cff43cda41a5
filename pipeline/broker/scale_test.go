package broker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/pipeline/broker"
)

// TestSoakScale checks that each byte of a log of gigabytes is written about once, and that the log
// opens after kill -9 as quickly and in as little memory as a small one. The plain run loads 64
// MiB.
func TestSoakScale(t *testing.T) {
	mib := rounds(64, 5<<10)
	dir := t.TempDir()
	loader := command(dir, "load", strconv.Itoa(mib))
	out, err := loader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := loader.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	loader.Process.Kill()
	loader.Wait()
	var amp float64
	if _, scanErr := fmt.Sscanf(line, "write amplification %f", &amp); scanErr != nil {
		t.Fatalf("load: %q %v", line, err)
	}
	t.Log(strings.TrimSpace(line))
	if amp > 3 {
		t.Errorf("write amplification %.2f, at most 3", amp)
	}

	said, err := command(dir, "measure").Output()
	var ns, kib int64
	if _, scanErr := fmt.Sscanf(string(said), "opened in %d ns, VmHWM %d kB", &ns, &kib); scanErr != nil {
		t.Fatalf("measure: %q %v", said, err)
	}
	took := time.Duration(ns)
	t.Logf("opened after kill -9 in %s, peak RSS %d MiB", took.Round(time.Millisecond), kib>>10)
	if os.Getenv("RECOUNT_SOAK") == "1" && (took > time.Second || kib > 300<<10) {
		t.Errorf("opened in %s with %d MiB, at most 1 s and 300 MiB", took, kib>>10)
	}
}

// command returns the test binary as a process that does something to dir.
func command(dir, do string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childDo+"="+do)
	cmd.Stderr = os.Stderr
	return cmd
}

// load appends as many MiB of incompressible data as the argument says to 16 partitions, prints
// what it cost, and waits to be killed.
func load(dir string) error {
	mib, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	ctx := context.Background()
	b, err := broker.Open(dir, broker.Options{AutoCreateTopics: true, DefaultPartitions: 16, MinFreeBytes: -1})
	if err != nil {
		return err
	}
	c, err := kgo.NewClient(append(inMemory(b), kgo.AllowAutoTopicCreation())...)
	if err != nil {
		return err
	}
	if err := c.ProduceSync(ctx, &kgo.Record{Topic: "log"}).FirstErr(); err != nil {
		return err
	}
	c.Close()
	const perBatch = 64
	bytes := noise(1024 * perBatch)
	records := make([]broker.Record, perBatch)
	for i := range records {
		records[i].Value = bytes[1024*i : 1024*(i+1)]
	}
	start := time.Now()
	var left atomic.Int64
	left.Store(int64(mib) << 10)
	var g errgroup.Group
	for w := range 32 {
		g.Go(func() error {
			for left.Add(-perBatch) >= 0 {
				if _, err := b.Append(ctx, "log", int32(w%16), records...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	took, st := time.Since(start), b.Stats()
	fmt.Printf("write amplification %.2f: %d MiB in %s (%.0f MiB/s), %d fsyncs, %d MiB on disk\n",
		float64(st.StoreWritten)/float64(st.AppendedBytes), mib, took.Round(time.Millisecond),
		float64(mib)/took.Seconds(), st.Commits, st.StoreBytes>>20)
	select {}
}

// measure opens dir and prints the time and memory that took.
func measure(dir string) error {
	start := time.Now()
	b, err := broker.Open(dir, broker.Options{})
	if err != nil {
		return err
	}
	took := time.Since(start)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	var kib int64
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			break
		}
	}
	fmt.Printf("opened in %d ns, VmHWM %d kB\n", took.Nanoseconds(), kib)
	return b.Close()
}
