package streams

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func metricsSpec() *service.ConfigSpec {
	return service.NewConfigSpec().Stable().
		Summary("Exposes the stream's metrics to Prometheus, with those of the process (/metrics).").
		Field(service.NewStringField("prefix").Default("recount_stream_").Description("The prefix of every metric's name."))
}

// meters holds the metrics of all streams of a process. Streams that use the same name share one
// metric, as Prometheus requires.
type meters struct {
	reg prometheus.Registerer // nil: metrics are not exported

	mu    sync.Mutex
	known map[string]prometheus.Collector
}

func newMeters(reg prometheus.Registerer) *meters {
	return &meters{reg: reg, known: map[string]prometheus.Collector{}}
}

// vec returns the metric with this name and labels, and registers what mk returns on first use.
func vec[C prometheus.Collector](m *meters, name string, labels []string, mk func(labels []string) C) C {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := name + "\x00" + strings.Join(labels, "\x00")
	if c, ok := m.known[key].(C); ok {
		return c
	}
	c := mk(labels)
	if m.reg != nil {
		var already prometheus.AlreadyRegisteredError
		if err := m.reg.Register(c); errors.As(err, &already) {
			if old, ok := already.ExistingCollector.(C); ok {
				c = old
			}
		}
	}
	m.known[key] = c
	return c
}

type exporter struct {
	meters *meters
	prefix string
}

func (s *shared) newExporter(conf *service.ParsedConfig, _ *service.Logger) (service.MetricsExporter, error) {
	prefix, err := conf.FieldString("prefix")
	return &exporter{s.meters, prefix}, err
}

func (e *exporter) Close(context.Context) error { return nil }

// HandlerFunc serves the metrics on Benthos' own HTTP server, if it runs.
func (e *exporter) HandlerFunc() http.HandlerFunc {
	g, ok := e.meters.reg.(prometheus.Gatherer)
	if !ok {
		return nil
	}
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{}).ServeHTTP
}

// name converts a metric name of Benthos into one that is valid in Prometheus.
func (e *exporter) name(n string) string {
	return e.prefix + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == ':' {
			return r
		}
		return '_'
	}, n)
}

func (e *exporter) NewCounterCtor(name string, labels ...string) service.MetricsExporterCounterCtor {
	name = e.name(name)
	c := vec(e.meters, name, labels, func(ls []string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: "Benthos counter."}, slices.Clone(ls))
	})
	return func(values ...string) service.MetricsExporterCounter { return counter{c.WithLabelValues(values...)} }
}

func (e *exporter) NewTimerCtor(name string, labels ...string) service.MetricsExporterTimerCtor {
	name = e.name(name) + "_seconds"
	h := vec(e.meters, name, labels, func(ls []string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: "Benthos timer.",
			Buckets: []float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}, slices.Clone(ls))
	})
	return func(values ...string) service.MetricsExporterTimer { return timer{h.WithLabelValues(values...)} }
}

func (e *exporter) NewGaugeCtor(name string, labels ...string) service.MetricsExporterGaugeCtor {
	name = e.name(name)
	g := vec(e.meters, name, labels, func(ls []string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: "Benthos gauge."}, slices.Clone(ls))
	})
	return func(values ...string) service.MetricsExporterGauge { return gauge{g.WithLabelValues(values...)} }
}

type counter struct{ c prometheus.Counter }

func (c counter) Incr(n int64) {
	if n > 0 {
		c.c.Add(float64(n))
	}
}

type timer struct{ o prometheus.Observer }

func (t timer) Timing(nanos int64) { t.o.Observe(float64(nanos) / 1e9) }

type gauge struct{ g prometheus.Gauge }

func (g gauge) Set(v int64) { g.g.Set(float64(v)) }
