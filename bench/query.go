package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// askers is the number of concurrent clients; warming is the number of questions that fill caches
// before the measurement, none of which is asked again.
const (
	askers  = 16
	warming = 1000
)

// benchQuery queries evidence among a number of objects over HTTP, from 16 clients at once and then
// from one. The clients are a separate process, so that their CPU time can be distinguished from
// the server's.
func benchQuery(ctx context.Context, o options, r *report) (err error) {
	s, err := startSystem(ctx, cmp.Or(o.keep, filepath.Join(o.dir, "query")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	l := newAgentLoad(o, agentSessions)
	if err := s.fill(ctx, l, o.objects, r); err != nil {
		return err
	}

	if err := settled(ctx, r); err != nil {
		return err
	}

	// The questions differ, and their words have the distribution of the log's words.
	rng := rand.New(rand.NewPCG(l.seed, 0x9e37))
	zipf := rand.NewZipf(rng, 1.1, 4, uint64(len(l.words)-1))
	questions := make([][]byte, warming+3000)
	for i := range questions {
		words := make([]string, 3+rng.IntN(6))
		for j := range words {
			words[j] = l.words[zipf.Uint64()]
		}
		questions[i], err = json.Marshal(evidence.Request{Text: strings.Join(words, " ")})
		if err != nil {
			return err
		}
	}
	to := "http://" + s.node.HTTPAddr() + "/v1/query"
	if _, _, err := askedBy(ctx, asked{to, askers, questions[:warming]}); err != nil {
		return err
	}
	questions = questions[warming:]
	for _, clients := range []int{askers, 1} {
		some := questions
		if clients == 1 {
			some = questions[:300]
		}
		cpu := cpuTime()
		a, theirs, err := askedBy(ctx, asked{to, clients, some})
		if err != nil {
			return err
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(len(some)) }
		r.add(fmt.Sprintf("POST /v1/query, %d at once, %d questions of 3 to 8 words", clients, len(some)), "%.0f a second, p50 %s, p99 %s, max %s; CPU each %.2f ms, and %.2f ms of the clients",
			float64(len(some))/a.Took.Seconds(), a.Each.quantile(.5), a.Each.quantile(.99), a.Each.quantile(1), ms(cpuTime()-cpu), ms(theirs))
		slices.Sort(a.Bytes)
		r.add("… an answer", "%d bytes at the median, %d at most; %d of %d empty", a.Bytes[len(a.Bytes)/2], a.Bytes[len(a.Bytes)-1], a.Empty, len(some))
	}
	r.add("peak RSS of the server", "%d MiB", peakRSS()>>20)
	return nil
}

// settled waits until this process is idle: objects of large spaces are linked and files compacted
// for a while after the last event is visible.
func settled(ctx context.Context, r *report) error {
	const window = time.Second
	start, began := time.Now(), cpuTime()
	for before := began; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(window):
		}
		now := cpuTime()
		if now-before < window/20 {
			break
		}
		before = now
	}
	r.add("until linking and compactions had ended, before the questions", "%.0f s, %.1f s CPU", time.Since(start).Seconds(), (cpuTime() - began).Seconds())
	return nil
}

// fillChunk is the number of events that are appended before the next ones are generated.
const fillChunk = 100 * agentsABatch

// fill appends those of the first n events that are missing, and waits until they are in every
// projection. If an earlier run was interrupted, it continues with the chunk that was begun.
func (s *system) fill(ctx context.Context, l *agentLoad, n int, r *report) error {
	ends, err := s.node.Log().Ends(ctx, s.node.Log().Topic(schemas.TopicAgents))
	if err != nil {
		return err
	}
	there := 0
	for _, end := range ends {
		there += int(end)
	}
	start, cpu := time.Now(), cpuTime()
	for from := there / fillChunk * fillChunk; there < n && from < n; {
		var load [][]schemas.Event
		for end := min(from+fillChunk, n); from < end; {
			batch, err := l.events(from, min(agentsABatch, end-from))
			if err != nil {
				return err
			}
			load, from = append(load, batch), from+len(batch)
		}
		if err := s.appendBatches(ctx, load, from <= there+fillChunk); err != nil {
			return err
		}
	}
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	took := time.Since(start)
	if made := n - there; made > 0 {
		r.add(fmt.Sprintf("%d events of agents appended to %d, and in every projection", made, there), "%.0f events/s, %.0f µs CPU an event", float64(made)/took.Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(made))
	} else {
		r.add("events of agents that were there", "%d", there)
	}
	return nil
}

// asked is the input of the process of clients: a URL, a number of clients and the questions.
type asked struct {
	URL       string
	Clients   int
	Questions [][]byte
}

// answered is the output of the process of clients.
type answered struct {
	Each  latencies
	Bytes []int
	Empty int
	Took  time.Duration
}

// askedBy runs the clients in a separate process, and returns its CPU time.
func askedBy(ctx context.Context, q asked) (a answered, cpu time.Duration, err error) {
	in, err := json.Marshal(q)
	if err != nil {
		return a, 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return a, 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", "ask")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return a, 0, fmt.Errorf("ask: %w", err)
	}
	return a, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), json.Unmarshal(out, &a)
}

// askChild reads an asked from standard input, runs the clients, and writes an answered.
func askChild(ctx context.Context) error {
	var q asked
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return err
	}
	a, err := askAll(ctx, q)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// askAll sends the questions from concurrent clients, each as soon as its previous question was
// answered.
func askAll(ctx context.Context, q asked) (answered, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		all    answered
		failed error
		work   = make(chan []byte)
	)
	start := time.Now()
	for range q.Clients {
		a, err := newAsker(ctx, q.URL)
		if err != nil {
			return all, err
		}
		wg.Go(func() {
			for question := range work {
				start := time.Now()
				err := a.ask(question)
				took := time.Since(start)
				mu.Lock()
				all.Each, all.Bytes = append(all.Each, took), append(all.Bytes, a.answer.Len())
				if bytes.Contains(a.answer.Bytes(), []byte(`"query_status":"empty"`)) {
					all.Empty++
				}
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	for _, question := range q.Questions {
		work <- question
	}
	close(work)
	wg.Wait()
	all.Took = time.Since(start)
	return all, failed
}

// asker is a client with its own connection. It reads and writes the connection itself: the
// goroutines that http.Client starts for each connection used a quarter of what an answer costs the
// server, on the same cores.
type asker struct {
	conn     net.Conn
	in       *bufio.Reader
	to       *url.URL
	question bytes.Buffer
	answer   bytes.Buffer // the last one
}

// newAsker connects to the host of a URL; the connection is closed when ctx ends.
func newAsker(ctx context.Context, to string) (*asker, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return &asker{conn: conn, in: bufio.NewReaderSize(conn, 16<<10), to: u}, nil
}

func (a *asker) ask(question []byte) error {
	a.question.Reset()
	fmt.Fprintf(&a.question, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", a.to.Path, a.to.Host, len(question))
	a.question.Write(question)
	a.answer.Reset()
	if _, err := a.conn.Write(a.question.Bytes()); err != nil {
		return err
	}
	resp, err := http.ReadResponse(a.in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := a.answer.ReadFrom(resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.200s", resp.Status, a.answer.Bytes())
	}
	return nil
}
