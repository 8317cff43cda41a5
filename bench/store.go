package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

// runChild runs the part of a benchmark that has its own process, so that it can be killed and its
// memory and writes can be measured.
func runChild(ctx context.Context, name string, o options) error {
	switch name {
	case "fill": // fills until it is killed or done
		s, err := startOurs(o.dir, false)
		if err != nil {
			return err
		}
		if err := fill(ctx, s, o); err != nil {
			return err
		}
		fmt.Println("filled")
		<-ctx.Done() // the parent kills this process here or earlier
		return nil
	case "fill-close":
		s, err := startOurs(o.dir, false)
		if err != nil {
			return err
		}
		defer s.close()
		return fill(ctx, s, o)
	case "open":
		start := time.Now()
		b, err := broker.Open(o.dir, broker.Options{Listen: []string{"127.0.0.1:0"}})
		if err != nil {
			return err
		}
		took := time.Since(start)
		fmt.Printf("opened %d %d\n", took.Microseconds(), peakRSS())
		return b.Close()
	case "ask":
		return askChild(ctx)
	}
	return fmt.Errorf("no child %q", name)
}

func fill(ctx context.Context, s *server, o options) error {
	cl, err := s.client(kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.MaxBufferedRecords(50_000), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return err
	}
	defer cl.Close()
	ps := payloads(o.seed)
	for i := range int(o.size / recordBytes) {
		cl.Produce(ctx, &kgo.Record{Value: ps[i%len(ps)]}, nil)
	}
	return cl.Flush(ctx)
}

func childCmd(name, dir string, o options) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return exec.Command(self, "-child", name, "-dir", dir, "-size", strconv.FormatInt(o.size, 10), "-seed", strconv.FormatInt(o.seed, 10))
}

func benchReopen(ctx context.Context, o options, r *report) error {
	dir := filepath.Join(o.dir, "reopen")
	filler := childCmd("fill", dir, o)
	out, err := filler.StdoutPipe()
	if err != nil {
		return err
	}
	filler.Stderr = os.Stderr
	if err := filler.Start(); err != nil {
		return err
	}
	defer filler.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return fmt.Errorf("fill: %q %w", line, err)
	}
	if err := filler.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	filler.Wait()
	var took, rss []float64
	for range o.runs {
		// The first opening recovers the WAL; it is the one that matters.
		out, err := childCmd("open", dir, o).CombinedOutput()
		if err != nil {
			return fmt.Errorf("open: %s %w", out, err)
		}
		var us, peak float64
		if _, err := fmt.Sscanf(lastLine(string(out)), "opened %f %f", &us, &peak); err != nil {
			return fmt.Errorf("open: %q: %w", out, err)
		}
		took, rss = append(took, us/1e6), append(rss, peak/(1<<20))
	}
	r.add(fmt.Sprintf("first open after kill -9, %.1f GiB", float64(o.size)/(1<<30)), "%.3f s, peak RSS %.0f MiB", took[0], rss[0])
	r.add("later opens", "%.3f s, peak RSS %.0f MiB (medians)", median(took), median(rss))
	return nil
}

func benchAmplification(ctx context.Context, o options, r *report) error {
	dir := filepath.Join(o.dir, "amplification")
	cmd := childCmd("fill-close", dir, o)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	took := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("no resource usage of a child on this system")
	}
	// ru_oublock counts blocks of 512 bytes (getrusage(2)) that were sent to the storage layer,
	// whether or not the page cache has written them.
	r.add(fmt.Sprintf("%.1f GiB produced, closed", float64(o.size)/(1<<30)), "write amplification %.2f, %.0f MiB/s",
		float64(usage.Oublock)*512/float64(o.size), float64(o.size)/(1<<20)/took.Seconds())
	return nil
}

// peakRSS returns the process's largest resident set so far, in bytes.
func peakRSS() int64 { return statusBytes("VmHWM") }

// statusBytes returns a field of /proc/self/status in bytes (the file has kB); 0 if there is none.
func statusBytes(field string) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
