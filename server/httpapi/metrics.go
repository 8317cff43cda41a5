package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	panics   prometheus.Counter
}

// newMetrics returns the HTTP metrics and registers them with reg, which may be nil.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "recount_http_requests_total", Help: "HTTP requests by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "recount_http_request_seconds", Help: "Duration of HTTP requests.",
			Buckets: []float64{.0005, .001, .002, .003, .005, .01, .02, .05, .1, .5, 1, 5, 30},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "recount_http_requests_in_flight", Help: "HTTP requests in progress.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "recount_http_panics_total", Help: "Panics in HTTP handlers.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.inFlight, m.panics)
	}
	return m
}

func (m *metrics) observe(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}
