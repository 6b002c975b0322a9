package admission_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/admission"
)

// repeat returns some texts with commas between them.
func repeat(n int, one func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = one(i)
	}
	return strings.Join(parts, ", ")
}

func always1(int) string { return "1" }

// wideBodies returns bodies with n members, or as long as those, which are wide in different ways. Their location
// is w.
func wideBodies(n int) map[string]string {
	member := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i, i) }
	}
	return map[string]string{
		"unknown":         `{"location": "w", ` + repeat(n, member(`"unknown-%d": %d`)) + `}`,
		"unknown, inside": `{"location": "w", "properties": {` + repeat(n, member(`"sizes%d": %d`)) + `}}`,
		"map":             `{"location": "w", "tags": {` + repeat(n, member(`"t%d": "v%d"`)) + `}}`,
		"map of mistakes": `{"location": "w", "tags": {` + repeat(n, member(`"t%d": %d`)) + `}}`,
		"list":            `{"location": "w", "tags": [` + repeat(8*n, always1) + `]}`,
		"deep lists":      `{"location": "w", "tags": {"a": ` + repeatDeep(5*n) + `}}`,
		"long name": `{"location": "w", "tags": {"` + strings.Repeat("n", 8*n) + `": {` +
			repeat(n, member(`"t%d": %d`)) + `}}}`,
		"long number": `{"location": "w", "properties": {"size": 1` + strings.Repeat("0", 8*n) + `}}`,
	}
}

// repeatDeep returns a list of n values, which stand 200 levels deep.
func repeatDeep(n int) string {
	return "[" + repeat(n/200, func(int) string { return strings.Repeat("[", 198) + "1" + strings.Repeat("]", 198) }) + "]"
}

// wideReviews returns reviews of wide bodies that are new, that replace a small one and that
// replace a wide one, sorted by name.
func wideReviews(n int) (names []string, reviews map[string][]byte) {
	reviews = map[string][]byte{}
	for name, body := range wideBodies(n) {
		reviews[name+"/new"] = question("CREATE", "", spec(body))
		reviews[name+"/grown"] = question("UPDATE", spec(`{"location": "w"}`), spec(body))
		reviews[name+"/changed"] = question("UPDATE", spec(strings.Replace(body, `"w"`, `"x"`, 1)), spec(body))
	}
	return slices.Sorted(maps.Keys(reviews)), reviews
}

// 200 small reviews a second beside ten wide ones at any time, of which each object has 2 to 3 MB,
// for 5 seconds, over TLS.
func BenchmarkBesideWide(b *testing.B) {
	names, reviews := wideReviews(100_000)
	for b.Loop() {
		small, wide := load(b, names, reviews)
		b.ReportMetric(ms(small.took, 50), "small-p50-ms")
		b.ReportMetric(ms(small.took, 99), "small-p99-ms")
		b.ReportMetric(ms(wide.took, 50), "wide-p50-ms")
		b.ReportMetric(ms(wide.took, 99), "wide-p99-ms")
		b.ReportMetric(ms(append(small.took, wide.took...), 99), "all-p99-ms")
		b.ReportMetric(float64(len(wide.took)), "wide")
		b.ReportMetric(float64(wide.late), "wide-late")
		b.ReportMetric(float64(small.late), "small-late")
	}
}

// An outcome is how long reviews took, and how many were refused since there was no time.
type outcome struct {
	mu   sync.Mutex
	took []time.Duration
	late int
}

func (o *outcome) add(took time.Duration, answer string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.took = append(o.took, took)
	if strings.Contains(answer, "try again") {
		o.late++
	}
}

func ms(took []time.Duration, percent int) float64 {
	slices.Sort(took)
	return float64(took[(len(took)-1)*percent/100].Microseconds()) / 1000
}

func load(b *testing.B, names []string, reviews map[string][]byte) (small, wide *outcome) {
	b.Helper()
	server := httptest.NewUnstartedServer(admission.NewHandler(known(b), admission.Options{}))
	server.EnableHTTP2, server.Config.HTTP2 = true, &http.HTTP2Config{MaxReceiveBufferPerConnection: 8 << 20,
		MaxReceiveBufferPerStream: 512 << 10}
	server.StartTLS()
	defer server.Close()
	send := func(to *outcome, raw []byte) {
		begin := time.Now()
		r, err := server.Client().Post(server.URL+"/validate", "application/json", bytes.NewReader(raw)) //nolint:noctx // of the test
		if err != nil {
			b.Error(err)
			return
		}
		defer r.Body.Close()
		answer, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			b.Errorf("%d %s %v", r.StatusCode, answer, err)
		}
		to.add(time.Since(begin), string(answer))
	}
	small, wide = &outcome{}, &outcome{}
	good := question("CREATE", "", spec(`{"location": "westus", "properties": {"size": 1}}`))
	end := time.Now().Add(5 * time.Second)
	var running sync.WaitGroup
	for i := range 10 {
		running.Go(func() {
			for at := i; time.Now().Before(end); at += 10 {
				send(wide, reviews[names[at%len(names)]])
			}
		})
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		<-tick.C
		running.Go(func() { send(small, good) })
	}
	running.Wait()
	r, err := server.Client().Get(server.URL + "/metrics") //nolint:noctx // of the test
	if err != nil {
		b.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	var inTime, all float64
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, `prcheck_webhook_review_seconds_bucket{le="1"} %g`, &inTime) // most lines are others
		_, _ = fmt.Sscanf(line, `prcheck_webhook_review_seconds_count %g`, &all)
	}
	b.ReportMetric(100*inTime/all, "%-in-1s-at-the-server")
	return small, wide
}
