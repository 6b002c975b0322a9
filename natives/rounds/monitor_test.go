package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// get asks a monitor.
func get(m *Monitor, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// The process is healthy for three pauses after a good round, and after its start.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMonitor("it", Orders{Every: time.Minute})
		for _, c := range []struct {
			after  time.Duration
			ends   Outcome // of a round, "" for none
			status int
			want   health
		}{
			{0, "", 200, health{Status: "ok", Limit: 180}},
			{3 * time.Minute, "", 200, health{Status: "ok", Limit: 180, Age: 180}},
			{time.Second, "", 503, health{Status: "stale", Limit: 180, Age: 181}},
			{0, Failed, 503, health{Status: "stale", Limit: 180, Age: 181}},
			{0, Skipped, 503, health{Status: "stale", Limit: 180, Age: 181}},
			{0, Done, 200, health{Status: "ok", Limit: 180, Good: true}},
			{time.Minute, NothingDone, 200, health{Status: "ok", Limit: 180, Age: 60, Good: true}},
			{2*time.Minute + time.Second, "", 503, health{Status: "stale", Limit: 180, Age: 181, Good: true}},
		} {
			time.Sleep(c.after)
			if c.ends != "" {
				m.begin()
				m.end(&Report{Outcome: c.ends})
			}
			w := get(m, http.MethodGet, "/healthz")
			var got health
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got != c.want || w.Code != c.status {
				t.Errorf("after %v, %q: got %d, %+v, %v, want %d, %+v", c.after, c.ends, w.Code, got, err, c.status, c.want)
			}
		}
	})
}

// One round alone is always healthy.
func TestHealthOfOneRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMonitor("it", Orders{})
		m.begin()
		time.Sleep(time.Hour)
		if w := get(m, http.MethodGet, "/healthz"); w.Code != http.StatusOK ||
			!strings.Contains(w.Body.String(), `"busy":true`) {
			t.Errorf("got %d, %s", w.Code, w.Body)
		}
	})
}

// The metrics are in the text format of Prometheus, whatever names the data have.
func TestMetrics(t *testing.T) {
	in, _ := input(fake{run: func(_ context.Context, env integration.Environment, act integration.Actors) error {
		act.Did(integration.Deed{Key: "a", Action: "create", Status: "done"})
		act.Did(integration.Deed{Key: "b", Action: "create", Status: "done"})
		act.Did(integration.Deed{Key: "c", Action: `a "strange" \ one`, Status: "failed"})
		env.Report(integration.Remark{Finding: plan.Finding{Severity: plan.SeverityWarning}})
		return nil
	}})
	o := Orders{Writes: true, Shard: "a \"b\"\nc\xff", Static: plan.Fraction{Part: 2, Of: 3}, Every: time.Hour}
	in.Monitor = NewMonitor("it", o)
	r := New(in, o)
	r.Round(t.Context())
	r.Round(t.Context())
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(get(in.Monitor, http.MethodGet, "/metrics").Body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for name, f := range families {
		for _, metric := range f.GetMetric() {
			key := strings.TrimPrefix(name, "prcheck_reconcile_")
			for _, l := range metric.GetLabel() {
				switch l.GetName() {
				case "integration", "shards":
				case "shard_id":
					if l.GetValue() != "a \"b\"\nc\ufffd-1" {
						t.Errorf("got the shard %q", l.GetValue())
					}
				default:
					key += " " + l.GetValue()
				}
			}
			got[key] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	for key, want := range map[string]float64{
		"rounds_total done": 2, "rounds_total failed": 0, "steps_total create done": 4,
		`steps_total a "strange" \ one failed`: 2,
		"findings warning":                     1, "findings error": 0,
	} {
		if value, ok := got[key]; !ok || value != want {
			t.Errorf("%s is %v, want %v (%v)", key, value, want, got)
		}
	}
	if at := got["last_good_round_timestamp_seconds"]; at < 1e9 {
		t.Errorf("the last good round was at %v", at)
	}
}

func TestRoutes(t *testing.T) {
	m := NewMonitor("it", Orders{})
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/metrics", 200}, {"HEAD", "/healthz", 200}, {"POST", "/metrics", 405}, {"GET", "/", 404},
		{"GET", "/debug/pprof", 404},
	} {
		if w := get(m, c.method, c.path); w.Code != c.want {
			t.Errorf("%s %s: got %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
}

// Metrics are served while there is work.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/healthz"
	done := errors.New("done")
	err = NewMonitor("it", Orders{}).Serve(l, func() error {
		res, err := http.Get(url)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(body), `"status":"ok"`) {
			t.Errorf("got %s, %v", body, err)
		}
		return done
	})
	if !errors.Is(err, done) {
		t.Errorf("got %v", err)
	}
	if res, err := http.Get(url); err == nil {
		_ = res.Body.Close()
		t.Error("it still serves")
	}
}
