package node

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/recountdb/recount/schemas"
)

// registerMetrics registers the node's own metrics. The HTTP API and the streams register theirs.
func (n *Node) registerMetrics() error {
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "recount_build_info", Help: "Always 1; the version is in the label.",
		ConstLabels: prometheus.Labels{"version": n.cfg.Version},
	}, func() float64 { return 1 })
	ready := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "recount_ready", Help: "1 once the projections have applied everything that the log held at the start.",
	}, func() float64 {
		if n.ready.Load() {
			return 1
		}
		return 0
	})
	wrong := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "recount_tokens_file_mistakes", Help: "Entries of the tokens file that are not in force because of a mistake; 1 if the whole file cannot be read.",
	}, func() float64 {
		if f := n.tokens.File(); f != nil {
			return float64(len(f.State().Mistakes))
		}
		return 0
	})
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build, ready, wrong, &lagCollector{n: n},
	} {
		if err := n.reg.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

func (n *Node) metricsHandler() http.Handler {
	return promhttp.HandlerFor(n.reg, promhttp.HandlerOpts{Registry: n.reg, MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// lagCollector reads the ends of the log and the projections' watermarks when metrics are
// collected.
type lagCollector struct {
	n  *Node
	mu sync.Mutex
	// ends is cached for a second, to limit the load of concurrent scrapes.
	ends schemas.Watermark
	at   time.Time
}

var (
	descEnd  = prometheus.NewDesc("recount_log_end_offset", "The end offset of a partition of the log.", []string{"topic", "partition"}, nil)
	descFull = prometheus.NewDesc("recount_log_full", "1 while the embedded log refuses appends for lack of free space, else 0.", nil, nil)
	descNext = prometheus.NewDesc("recount_projection_next_offset", "The next offset that a projection will apply.", []string{"projection", "topic", "partition"}, nil)
	descLag  = prometheus.NewDesc("recount_projection_lag", "Events of the log that a projection has not applied yet.", []string{"projection", "topic", "partition"}, nil)
)

// Describe implements prometheus.Collector.
func (c *lagCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- descEnd
	ch <- descFull
	ch <- descNext
	ch <- descLag
}

// Collect implements prometheus.Collector. If the log cannot be reached, it omits the ends and lags
// instead of reporting wrong ones.
func (c *lagCollector) Collect(ch chan<- prometheus.Metric) {
	ends := c.logEnds()
	for _, tp := range ends.Partitions() {
		ch <- prometheus.MustNewConstMetric(descEnd, prometheus.GaugeValue, float64(ends[tp]), tp.Topic, strconv.Itoa(int(tp.Partition)))
	}
	if c.n.log.Embedded() {
		full := 0.0
		if c.n.log.Full() != nil {
			full = 1
		}
		ch <- prometheus.MustNewConstMetric(descFull, prometheus.GaugeValue, full)
	}
	if c.n.set == nil {
		return
	}
	for _, name := range c.n.set.Names() {
		p, release, err := c.n.set.Acquire(name)
		if err != nil {
			return // the node is closing
		}
		w := p.Watermark()
		release()
		for _, tp := range ends.Partitions() {
			if !c.n.set.Subscribes(name, tp.Topic) {
				continue
			}
			labels := []string{name, tp.Topic, strconv.Itoa(int(tp.Partition))}
			ch <- prometheus.MustNewConstMetric(descNext, prometheus.GaugeValue, float64(w[tp]), labels...)
			ch <- prometheus.MustNewConstMetric(descLag, prometheus.GaugeValue, float64(max(ends[tp]-w[tp], 0)), labels...)
		}
	}
}

func (c *lagCollector) logEnds() schemas.Watermark {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) > time.Second {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		ends, err := c.n.log.Ends(ctx, c.n.topics()...)
		if err != nil {
			ends = nil
		}
		c.ends, c.at = ends, time.Now()
	}
	return c.ends
}
