package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// stalledClients is the number of clients that request an export and do not read it.
const stalledClients = 200

// benchForget erases one command of a log, without and with clients that request GET /v1/intents
// and do not read the response. It reports the time of each phase and the growth of memory.
func benchForget(ctx context.Context, o options, r *report) error {
	n := o.count(100_000)
	for _, size := range []int{1400, 100} {
		for _, clients := range []int{0, stalledClients} {
			dir := filepath.Join(o.dir, fmt.Sprintf("forget-%d-%d", size, clients))
			if err := forgetBeside(ctx, dir, o.seed, n, size, clients, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func forgetBeside(ctx context.Context, dir string, seed int64, n, size, clients int, r *report) (err error) {
	s, err := startSystem(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.loadSized(ctx, seed, n, size); err != nil {
		return err
	}
	name := fmt.Sprintf("%d commands of %d bytes, %d clients that do not read", n, size, clients)
	debug.FreeOSMemory() // release what loading used
	before := statusBytes("VmRSS")
	stall, told, err := s.stall(ctx, clients)
	if err != nil {
		return err
	}
	defer stall()
	if clients > 0 {
		select { // until all of them have been served or refused
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
		r.add(name+": memory before `forget`", "+ %d MiB over %d MiB; %d times a client was told to come again", (told.peak.Load()-before)>>20, before>>20, told.refused.Load())
	}
	began, used := time.Now(), cpuTime()
	rep, err := s.client.Forget(ctx, api.ForgetRequest{Pattern: "s3cret-of-command-7\\b"}, nil)
	if err != nil {
		return err
	}
	if rep.Events != 1 {
		return fmt.Errorf("%d events erased, want 1", rep.Events)
	}
	left := "nothing left to do"
	if len(rep.Remaining) > 0 {
		left = "in no answer, log " + rep.Log + ", projections still to be rebuilt: " + strings.Join(rep.Remaining, ", ")
	}
	r.add(name+": `forget` answers", "%.1f s: %s", time.Since(began).Seconds(), left)
	for {
		st, err := s.client.Status(ctx, api.StatusRequest{})
		if err != nil {
			return err
		}
		if st.Erasing == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	r.add("… every file has lost it", "%.1f s, %.1f s of CPU", time.Since(began).Seconds(), (cpuTime() - used).Seconds())
	v, err := s.client.Verify(ctx, api.VerifyRequest{}, nil)
	if err != nil {
		return err
	}
	if !v.OK {
		return fmt.Errorf("%s: live state is not what a replay gives", name)
	}
	r.add("… verify afterwards", "%v, %.1f s", v.OK, float64(v.ElapsedMS)/1000)
	return nil
}

// loadSized appends n commands of about size bytes each and waits until they are projected.
func (s *system) loadSized(ctx context.Context, seed int64, n, size int) error {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var events []schemas.Event
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "deploy --mark s3cret-of-command-%d", i)
		for text.Len() < size {
			fmt.Fprintf(&text, " --%s file%d", vocabulary[rng.IntN(len(vocabulary))], rng.IntN(5000))
		}
		at, workspace := start.Add(time.Duration(i)*time.Second), fmt.Sprintf("/src/%d", i%50)
		payload, err := schemas.EncodePayload(&recountv1.CommandExecuted{
			Command: text.String(), Workspace: workspace, Cwd: workspace, Session: fmt.Sprint(i % 500), StartedAt: timestamppb.New(at),
		})
		if err != nil {
			return err
		}
		e := schemas.Event{
			Type: schemas.TypeCommandExecuted, Source: "bench", Time: at, Key: []byte(workspace),
			ContentType: schemas.ContentJSON, Payload: payload,
		}
		e.ID = e.DeriveID()
		if events = append(events, e); len(events) == 1000 || i == n-1 {
			if _, err := s.node.Log().Append(ctx, schemas.TopicCommands, events...); err != nil {
				return err
			}
			events = events[:0]
		}
	}
	return s.caughtUp(ctx)
}

var vocabulary = strings.Fields("alpha branch cluster deploy engine filter group host index join kernel limit module name output path query region service target upload volume worker zone")

// stalled counts the refusals of stalled clients, and has the peak of memory meanwhile.
type stalled struct {
	refused atomic.Int64
	peak    atomic.Int64
}

// stall opens connections that request every intent and read only the first line of the response.
// Each client repeats its request after 20 seconds.
func (s *system) stall(ctx context.Context, clients int) (stop func(), _ *stalled, err error) {
	ctx, cancel := context.WithCancel(ctx)
	told := &stalled{}
	asked := make(chan error, clients)
	for range clients {
		go func() {
			for first := true; ctx.Err() == nil; first = false {
				status, c, err := s.ask(ctx)
				if first {
					asked <- err
				}
				if err == nil && strings.Contains(status, "503") {
					told.refused.Add(1)
				}
				if c == nil {
					continue
				}
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Second):
				}
				c.Close()
			}
		}()
	}
	go func() {
		for ctx.Err() == nil {
			told.peak.Store(max(told.peak.Load(), statusBytes("VmRSS")))
			time.Sleep(50 * time.Millisecond)
		}
	}()
	for range clients {
		if err := <-asked; err != nil {
			cancel()
			return nil, nil, err
		}
	}
	return cancel, told, nil
}

// ask requests every intent and reads the status line.
func (s *system) ask(ctx context.Context) (status string, c net.Conn, err error) {
	c, err = (&net.Dialer{}).DialContext(ctx, "tcp", s.node.HTTPAddr())
	if err != nil {
		return "", nil, err
	}
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	if _, err = fmt.Fprintf(c, "GET /v1/intents HTTP/1.1\r\nHost: %s\r\n\r\n", s.node.HTTPAddr()); err != nil {
		c.Close()
		return "", nil, err
	}
	status, err = bufio.NewReaderSize(c, 64).ReadString('\n')
	return status, c, err
}
