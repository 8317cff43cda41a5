package otlp

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	spans    *prometheus.CounterVec
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// newMetrics returns the metrics and registers them with reg, which may be nil.
func newMetrics(reg prometheus.Registerer, r *room) *metrics {
	m := &metrics{
		spans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "recount_otlp_spans_total", Help: "Spans received, by result: accepted (durable) or permanently refused.",
		}, []string{"result"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "recount_otlp_requests_total", Help: "Exports by protocol and gRPC status.",
		}, []string{"protocol", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "recount_otlp_request_seconds", Help: "Duration of exports until they were durable.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .5, 1, 5, 30},
		}, []string{"protocol"}),
	}
	inFlight := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "recount_otlp_in_flight_bytes", Help: "Bytes of exports that are not durable yet.",
	}, func() float64 { return float64(r.used.Load()) })
	if reg != nil {
		reg.MustRegister(m.spans, m.requests, m.seconds, inFlight)
	}
	return m
}
