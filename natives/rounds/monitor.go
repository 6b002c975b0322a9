package rounds

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// A Monitor counts rounds, and answers /metrics and /healthz. A nil Monitor counts nothing.
type Monitor struct {
	labels string        // of all metrics
	every  time.Duration // between two rounds; 0 is one round

	mu       sync.Mutex
	started  time.Time // of the monitor
	lastGood time.Time // end of the last round that was done; zero if there is none
	isBusy   bool      // a round runs
	took     time.Duration
	rounds   map[Outcome]int
	steps    map[stepKind]int
	findings map[plan.Severity]int // of the last round
	units    unitCount
}

// NewMonitor returns a monitor for rounds with these options.
func NewMonitor(integration string, o Orders) *Monitor {
	shards, id := o.Static.Numbers()
	shard := fmt.Sprint(id)
	if o.Shard != "" {
		shard = o.Shard
	}
	if o.Shard != "" && shards > 1 {
		shard = fmt.Sprintf("%s-%d", o.Shard, id)
	}
	return &Monitor{
		labels: fmt.Sprintf("integration=%s,shards=%s,shard_id=%s", quote(integration), quote(fmt.Sprint(shards)),
			quote(shard)),
		every: o.Every, started: time.Now(), rounds: map[Outcome]int{}, steps: map[stepKind]int{},
		findings: map[plan.Severity]int{},
	}
}

func (m *Monitor) begin() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isBusy = true
}

func (m *Monitor) end(r *Report) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isBusy, m.took = false, r.took
	m.rounds[r.Outcome]++
	for kind, n := range r.stepCounts {
		m.steps[kind] += n
	}
	m.findings = maps.Clone(r.findCounts)
	if r.Outcome == Done || r.Outcome == Failed {
		m.units.count(r.Units, time.Now())
	}
	if r.Outcome == Done {
		m.lastGood = time.Now()
	}
}

// A health is the body of /healthz.
type health struct {
	Status string  `json:"status"` // ok or stale
	Busy   bool    `json:"busy"`   // a round runs
	Age    float64 `json:"age_seconds"`
	Limit  float64 `json:"limit_seconds,omitempty"` // 0 if there is one round alone
	Good   bool    `json:"good_round"`              // there was a good round; the age is that of this process otherwise
}

// maxMissed is after how many intervals without a good round the process is not healthy.
const maxMissed = 3

func (m *Monitor) health() health {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := m.lastGood
	if since.IsZero() {
		since = m.started
	}
	age, limit := time.Since(since), maxMissed*m.every
	h := health{Status: "ok", Busy: m.isBusy, Age: age.Round(time.Millisecond).Seconds(), Limit: limit.Seconds(),
		Good: !m.lastGood.IsZero()}
	if limit > 0 && age > limit {
		h.Status = "stale"
	}
	return h
}

// ServeHTTP answers GET /healthz and GET /metrics.
func (m *Monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = io.WriteString(w, m.text()) // the client has gone away
	case r.URL.Path == "/healthz":
		h := m.health()
		w.Header().Set("Content-Type", "application/json")
		if h.Status != "ok" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(h) // likewise
	default:
		http.NotFound(w, r)
	}
}

// Serve answers the requests of a listener while work runs.
func (m *Monitor) Serve(l net.Listener, work func() error) error {
	server := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: time.Minute,
		IdleTimeout:  2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	var serving sync.WaitGroup
	var served error
	serving.Go(func() { served = server.Serve(l) })
	err := work()
	end, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if server.Shutdown(end) != nil {
		_ = server.Close() // requests that still run are cut off
	}
	serving.Wait()
	if served != nil && !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serving metrics: %w", served))
	}
	return err
}

// text returns the metrics in the text format of Prometheus.
func (m *Monitor) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out strings.Builder
	family := func(name, kind, help string, samples ...string) {
		fmt.Fprintf(&out, "# HELP prcheck_reconcile_%s %s\n# TYPE prcheck_reconcile_%s %s\n", name, help, name, kind)
		for _, s := range samples {
			out.WriteString("prcheck_reconcile_" + name + s + "\n")
		}
	}
	sample := func(more string, value float64) string { return fmt.Sprintf("{%s%s} %v", m.labels, more, value) }
	var rounds, steps, findings []string
	for _, o := range []Outcome{Done, Failed, NothingDone, Skipped, Interrupted} {
		rounds = append(rounds, sample(",outcome="+quote(string(o)), float64(m.rounds[o])))
	}
	for _, k := range slices.SortedFunc(maps.Keys(m.steps), func(a, b stepKind) int {
		return cmp.Or(strings.Compare(a.action, b.action), strings.Compare(a.status, b.status))
	}) {
		steps = append(steps, sample(",action="+quote(k.action)+",status="+quote(k.status), float64(m.steps[k])))
	}
	for _, s := range plan.Severities() {
		findings = append(findings, sample(",severity="+quote(string(s)), float64(m.findings[s])))
	}
	family("rounds_total", "counter", "Rounds by how they ended.", rounds...)
	family("steps_total", "counter", "Steps that were taken, or that a dry run would take, by action and status.",
		steps...)
	family("findings", "gauge", "Findings of the last round by severity.", findings...)
	m.units.families(time.Now(), family, sample)
	family("last_round_seconds", "gauge", "How long the last round took.", sample("", m.took.Seconds()))
	if !m.lastGood.IsZero() {
		family("last_good_round_timestamp_seconds", "gauge", "When the last round that was done ended.",
			sample("", float64(m.lastGood.UnixMilli())/1000))
	}
	return out.String()
}

// quote returns the value of a label.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(value, "\ufffd")) + `"`
}
