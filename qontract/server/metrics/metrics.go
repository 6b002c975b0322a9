package metrics

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Registry counts what a hub does, under the names that qontract-server uses.
// Several goroutines may use it at once.
type Registry struct {
	prometheus *prometheus.Registry
	duration   *prometheus.HistogramVec
	reloads    prometheus.Counter
	datafiles  *prometheus.GaugeVec
	bundles    []prometheus.Gauge // the number of bundles, under several names

	mu    sync.Mutex
	paths map[string]bool // labels that were used so far
}

// maxPaths is the number of paths that get a label of their own. Clients can
// invent any number of paths.
const maxPaths = 500

// New returns a registry that has counted nothing yet. It also reports on the
// Go runtime and on the process.
func New() *Registry {
	m := &Registry{
		prometheus: prometheus.NewRegistry(),
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
	m.prometheus.MustRegister(m.duration, m.reloads, m.datafiles, up, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "qontract_server"}))
	m.prometheus.MustRegister(processSeries()...)
	for name, help := range map[string]string{
		"qontract_server_router_stack_layers":      "Number of layers in the router stack",
		"qontract_server_bundle_object_shas":       "Number of shas cached by the application in the bundle object",
		"qontract_server_bundle_cache_object_shas": "Number of shas cached by the application in the bundleCache object",
	} {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		m.prometheus.MustRegister(g)
		m.bundles = append(m.bundles, g)
	}
	return m
}

// Reloaded counts one reload.
func (m *Registry) Reloaded() { m.reloads.Inc() }

// Loaded sets the number of bundles, and the number of datafiles of each schema
// in the latest bundle.
func (m *Registry) Loaded(latest *bundle.Bundle, bundles int) {
	for _, g := range m.bundles {
		g.Set(float64(bundles))
	}
	counts := map[bundle.SchemaPath]int{}
	for _, f := range latest.Datafiles() {
		counts[f.Schema]++
	}
	m.datafiles.Reset()
	for schema, n := range counts {
		m.datafiles.WithLabelValues(strings.ToValidUTF8(string(schema), "\ufffd")).Set(float64(n))
	}
}

// Answered counts one request and how long its answer took.
func (m *Registry) Answered(method, path string, status int, took time.Duration) {
	class := strconv.Itoa(status/100) + "xx"
	m.duration.WithLabelValues(class, methodLabel(method), m.pathLabel(path)).Observe(took.Seconds())
}

// Text returns all metrics in the text format of Prometheus.
func (m *Registry) Text() (string, error) {
	families, err := m.prometheus.Gather()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// methodLabel returns the label of a method. Methods that HTTP does not define
// share one label.
func methodLabel(method string) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, method) {
		return method
	}
	return "OTHER"
}

// values matches the parts of a path that differ from request to request:
// numbers, dates, hashes and other generated words. Labels have #val instead.
var values = lazyregexp.New(
	`^(-?\d+|(\d\d|\d{4})-\d\d-\d\d|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|[\dA-F]{8}(-[\dA-F]{4}){3}-[\dA-F]{12}|` +
		`[\da-f]{7,}|[\dA-F]{7,}|[\w-]{18,}\.[\w-]{3,}\.[\w-]{39,}|[\w-]{66,}|([A-Za-z\d+/]{4}){17,}.*)$`)

// pathLabel returns the label of a path, in which [values] are replaced. New
// labels beyond [maxPaths] become #other.
func (m *Registry) pathLabel(path string) string {
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
