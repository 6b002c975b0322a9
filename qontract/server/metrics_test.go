package server_test

import (
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/qontract/server/metrics"
)

// The names and labels equal those of qontract-server.
func TestMetrics(t *testing.T) {
	h := server.NewHub(server.HubOptions{Metrics: metrics.New()})
	b := people(t, "ana", "bob")
	for _, add := range b {
		if err := h.Add(add); err != nil {
			t.Fatal(err)
		}
	}
	askUsers(t, h, "/graphql")
	askUsers(t, h, "/graphqlsha/"+b[0].SHA256())
	askUsers(t, h, "/graphqlsha/"+b[1].SHA256())
	request(t, h, http.MethodGet, "/git-commit-info/"+b[1].SHA256(), nil, "")
	request(t, h, "BREW", "/coffee", nil, "")
	w := request(t, h, http.MethodGet, "/metrics", nil, "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/plain" || w.Header().Get("ETag") != "" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	lines := strings.Split(w.Body.String(), "\n")
	for _, want := range []string{
		`# HELP http_request_duration_seconds duration histogram of http responses labeled with: status_code, method, path`,
		`# TYPE http_request_duration_seconds histogram`,
		`http_request_duration_seconds_count{method="POST",path="/graphql",status_code="2xx"} 1`,
		`http_request_duration_seconds_count{method="POST",path="/graphqlsha/#sha",status_code="2xx"} 2`,
		`http_request_duration_seconds_count{method="GET",path="/git-commit-info/#val",status_code="2xx"} 1`,
		`http_request_duration_seconds_count{method="OTHER",path="/coffee",status_code="4xx"} 1`,
		`# HELP qontract_server_reloads_total Number of reloads for qontract server`,
		`qontract_server_reloads_total 1`,
		`# HELP qontract_server_datafiles Number of datafiles for a specific schema`,
		`qontract_server_datafiles{schema="/user-1.yml"} 1`,
		`# HELP qontract_server_router_stack_layers Number of layers in the router stack`,
		`qontract_server_router_stack_layers 2`,
		`qontract_server_bundle_object_shas 2`,
		`qontract_server_bundle_cache_object_shas 2`,
		`up 1`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("there is no %s", want)
		}
	}
	for _, bound := range []string{"0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"} {
		want := `http_request_duration_seconds_bucket{method="POST",path="/graphql",status_code="2xx",le="` + bound + `"}`
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("there is no bucket %s", bound)
		}
	}
	for _, series := range []string{
		"cpu_user_seconds_total", "cpu_system_seconds_total", "cpu_seconds_total", "heap_bytes", "resident_memory_bytes",
		"virtual_memory_bytes",
		"start_time_seconds", "open_fds", "max_fds",
	} {
		if name := "qontract_server_process_" + series + " "; runtime.GOOS == "linux" &&
			!slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name) }) {
			t.Errorf("there is no %s", name)
		}
	}
	if strings.Contains(w.Body.String(), `path="/metrics"`) {
		t.Error("requests for metrics are counted")
	}
	for _, path := range []string{"/metrics", "/metrics/"} {
		if w := request(t, h, http.MethodPost, path, nil, ""); w.Code != 200 ||
			w.Header().Get("Content-Type") != "text/plain" {
			t.Errorf("POST %s: got %d %v", path, w.Code, w.Header())
		}
	}
	if w := request(t, h, http.MethodGet, "/metrics?x", nil, ""); w.Code != 200 || w.Header().Get("Content-Type") != page {
		t.Errorf("with a query string: got %d %v", w.Code, w.Header())
	}
	if w := request(t, h, http.MethodPost, "/metrics?x", nil, ""); w.Code != 404 {
		t.Errorf("POST with a query string: got %d", w.Code)
	}
}
