package server

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/app-sre/prcheck/bundle"
)

// metrics counts what a hub does, under the names that qontract-server has.
type metrics struct {
	registry  *prometheus.Registry
	duration  *prometheus.HistogramVec
	reloads   prometheus.Counter
	datafiles *prometheus.GaugeVec
	bundles   []prometheus.Gauge // several names for one number

	mu    sync.Mutex
	paths map[string]bool // that were seen
}

// maxPaths is how many paths are counted by themselves; anybody can make up
// paths.
const maxPaths = 500

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "http_request_duration_seconds",
			Help:    "duration histogram of http responses labeled with: status_code, method, path",
			Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}, []string{"status_code", "method", "path"}),
		reloads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "qontract_server_reloads_total", Help: "Number of reloads for qontract server",
		}),
		datafiles: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "qontract_server_datafiles", Help: "Number of datafiles for a specific schema",
		}, []string{"schema"}),
		paths: map[string]bool{},
	}
	up := prometheus.NewGauge(prometheus.GaugeOpts{Name: "up", Help: "1 = up, 0 = not up"})
	up.Set(1)
	m.registry.MustRegister(m.duration, m.reloads, m.datafiles, up, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "qontract_server"}))
	for name, help := range map[string]string{
		"qontract_server_router_stack_layers":      "Number of layers in the router stack",
		"qontract_server_bundle_object_shas":       "Number of shas cached by the application in the bundle object",
		"qontract_server_bundle_cache_object_shas": "Number of shas cached by the application in the bundleCache object",
	} {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		m.registry.MustRegister(g)
		m.bundles = append(m.bundles, g)
	}
	return m
}

// holds notes the latest bundle and how many there are.
func (m *metrics) holds(latest *bundle.Bundle, bundles int) {
	for _, g := range m.bundles {
		g.Set(float64(bundles))
	}
	counts := map[bundle.Schema]int{}
	for _, f := range latest.Datafiles() {
		counts[f.Schema]++
	}
	m.datafiles.Reset()
	for schema, n := range counts {
		m.datafiles.WithLabelValues(strings.ToValidUTF8(string(schema), "\ufffd")).Set(float64(n))
	}
}

// answer answers GET /metrics.
func (m *metrics) answer(*http.Request) *reply {
	families, err := m.registry.Gather()
	var out bytes.Buffer
	for _, f := range families {
		if err == nil {
			_, err = expfmt.MetricFamilyToText(&out, f)
		}
	}
	if err != nil {
		return statusPage(http.StatusInternalServerError)
	}
	return newReply(http.StatusOK, typeHTML, out.String())
}

// A watched response knows its status.
type watched struct {
	http.ResponseWriter
	status int
	done   func()
}

func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the response itself, for [http.ResponseController].
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// watch measures a request until its answer is done.
func (m *metrics) watch(w http.ResponseWriter, method, path string) *watched {
	begin := time.Now()
	out := &watched{ResponseWriter: w, status: http.StatusOK}
	out.done = func() {
		status := strconv.Itoa(out.status/100) + "xx"
		m.duration.WithLabelValues(status, methodLabel(method), m.pathLabel(path)).Observe(time.Since(begin).Seconds())
	}
	return out
}

func methodLabel(method string) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, method) {
		return method
	}
	return "OTHER"
}

// values are what the label of a path does not name: numbers, dates, hashes
// and other made-up words.
var values = regexp.MustCompile(`^(-?\d+|(\d\d|\d{4})-\d\d-\d\d|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|[\dA-F]{8}(-[\dA-F]{4}){3}-[\dA-F]{12}|` +
	`[\da-f]{7,}|[\dA-F]{7,}|[\w-]{18,}\.[\w-]{3,}\.[\w-]{39,}|[\w-]{66,}|([A-Za-z\d+/]{4}){17,}.*)$`)

// pathLabel is the label of a path, without what differs from request to
// request.
func (m *metrics) pathLabel(path string) string {
	if strings.HasPrefix(path, "/graphqlsha/") {
		return "/graphqlsha/#sha"
	}
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			continue
		}
		if values.MatchString(part) {
			part = "#val"
		}
		parts = append(parts, part)
	}
	label := strings.ToValidUTF8("/"+strings.Join(parts, "/"), "\ufffd")
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.paths[label] {
		if len(m.paths) >= maxPaths || len(label) > 200 {
			return "#other"
		}
		m.paths[label] = true
	}
	return label
}
