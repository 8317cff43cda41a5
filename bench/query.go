package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// askers is how many clients ask at once.
const askers = 16

// benchQuery asks for evidence among a number of objects, over HTTP, by 16 clients at once
// and then by one.
func benchQuery(ctx context.Context, o options, r *report) (err error) {
	dir := cmp.Or(o.keep, filepath.Join(o.dir, "query"))
	_, err = os.Stat(filepath.Join(dir, "recount.json"))
	filled := err == nil
	s, err := startSystem(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	l := newAgentLoad(o, agentSessions)
	if !filled {
		if err := s.fill(ctx, l, o.objects, r); err != nil {
			return err
		}
	}

	// The questions differ, and their words are drawn as those of the log are.
	rng := rand.New(rand.NewPCG(l.seed, 0x9e37))
	zipf := rand.NewZipf(rng, 1.1, 4, uint64(len(l.words)-1))
	questions := make([][]byte, 1000)
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
	url := "http://" + s.node.HTTPAddr() + "/v1/query"
	if _, err := askAll(ctx, url, questions[:100], askers); err != nil { // the first ones fill caches
		return err
	}
	for _, clients := range []int{askers, 1} {
		some := questions
		if clients == 1 {
			some = questions[:300]
		}
		cpu := cpuTime()
		a, err := askAll(ctx, url, some, clients)
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("POST /v1/query, %d at once, %d questions of 3 to 8 words", clients, len(some)), "%.0f a second, p50 %s, p99 %s, max %s; %.2f ms CPU each, the clients' included",
			float64(len(some))/a.took.Seconds(), a.each.quantile(.5), a.each.quantile(.99), a.each.quantile(1), float64((cpuTime()-cpu).Microseconds())/1000/float64(len(some)))
		slices.Sort(a.bytes)
		r.add("… an answer", "%d bytes at the median, %d at most; %d of %d empty", a.bytes[len(a.bytes)/2], a.bytes[len(a.bytes)-1], a.empty, len(some))
	}
	r.add("peak RSS, clients included", "%d MiB", peakRSS()>>20)
	return nil
}

// fill appends n events and waits until they are in every projection.
func (s *system) fill(ctx context.Context, l *agentLoad, n int, r *report) error {
	start, cpu := time.Now(), cpuTime()
	for from := 0; from < n; {
		var load [][]schemas.Event
		for len(load) < 100 && from < n {
			batch, err := l.events(from, min(agentsABatch, n-from))
			if err != nil {
				return err
			}
			load, from = append(load, batch), from+len(batch)
		}
		if err := s.appendBatches(ctx, load); err != nil {
			return err
		}
	}
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	took := time.Since(start)
	r.add(fmt.Sprintf("%d events of agents appended and in every projection", n), "%.0f events/s, %.0f µs CPU an event", float64(n)/took.Seconds(), float64((cpuTime()-cpu).Microseconds())/float64(n))
	return nil
}

// answered is what came of many questions.
type answered struct {
	each  latencies
	bytes []int
	empty int
	took  time.Duration
}

// askAll asks questions by a number of clients, each as soon as its last was answered.
func askAll(ctx context.Context, url string, questions [][]byte, clients int) (answered, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		all    answered
		failed error
		work   = make(chan []byte)
	)
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for q := range work {
				start := time.Now()
				body, err := postJSON(ctx, client, url, q)
				took := time.Since(start)
				mu.Lock()
				all.each, all.bytes = append(all.each, took), append(all.bytes, len(body))
				if bytes.Contains(body, []byte(`"query_status":"empty"`)) {
					all.empty++
				}
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	for _, q := range questions {
		work <- q
	}
	close(work)
	wg.Wait()
	all.took = time.Since(start)
	return all, failed
}

func postJSON(ctx context.Context, client *http.Client, url string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", resp.Status, answer)
	}
	return answer, err
}
