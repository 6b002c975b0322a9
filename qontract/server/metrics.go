package server

import (
	"net/http"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// Metrics counts what a hub does. Several goroutines use it at once. Package
// qontract/server/metrics counts for Prometheus.
type Metrics interface {
	// Reloaded counts one reload.
	Reloaded()
	// Loaded is told the latest bundle and how many bundles the hub has.
	Loaded(latest *bundle.Bundle, bundles int)
	// Answered counts one request and how long its answer took.
	Answered(method, path string, status int, took time.Duration)
	// Text returns the body of the answer to GET /metrics.
	Text() (string, error)
}

// noMetrics counts nothing.
type noMetrics struct{}

func (noMetrics) Reloaded()                                   {}
func (noMetrics) Loaded(*bundle.Bundle, int)                  {}
func (noMetrics) Answered(string, string, int, time.Duration) {}
func (noMetrics) Text() (string, error)                       { return "", nil }

// isMetricsRequest reports whether a request asks for the metrics. qontract-server answers
// such a request before it looks for a route, whatever the method is, and does not count it.
func isMetricsRequest(r *http.Request) bool {
	return r.RequestURI == "/metrics" || r.RequestURI == "/metrics/"
}

// metricsReply returns the answer to a request for the metrics.
func (h *Hub) metricsReply() *reply {
	text, err := h.opts.Metrics.Text()
	if err != nil {
		return statusPage(http.StatusInternalServerError)
	}
	return &reply{status: http.StatusOK, contentType: "text/plain", body: []byte(text)}
}

// answerMetrics answers GET /metrics with a query string, which qontract-server takes for a
// page.
func (h *Hub) answerMetrics(*http.Request) *reply {
	p := h.metricsReply()
	if p.status == http.StatusOK {
		return newReply(http.StatusOK, typeHTML, string(p.body))
	}
	return p
}

// A statusWriter writes a response and remembers its status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader writes and remembers the status.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped response, for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
