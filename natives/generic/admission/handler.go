package admission

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/natives/generic/validate"
)

// The bounds of a review.
const (
	maxBody   = 8 << 20                // bytes: the old and the new object together
	smallBody = 64 << 10               // bytes of a review that waits for no large one
	maxBudget = 800 * time.Millisecond // from when the beginning was read to the answer
	maxPause  = 2 * time.Second        // until the beginning was read
)

// Types finds what is known of resource types, such as
// "Microsoft.Cache/Redis@2018-03-01" or "apps/v1/deployments". The error names the nearest
// type. It need not be safe for concurrent use, but what it returns has to be.
type Types interface {
	Type(name string) (*validate.Checker, error)
}

// A Handler answers reviews at /validate, its health at /healthz and its metrics at /metrics.
type Handler struct {
	options Options
	counts  counts
	lanes   lanes

	mu    sync.Mutex // of types
	types Types
}

// Options say how a handler judges. The zero value is the strictest, but for deletions.
type Options struct {
	// WarnInferred lets a change of a property pass with a warning if it is only inferred that
	// it can be set at creation only.
	WarnInferred bool
	// ProtectDeletes refuses to delete a resource that is managed and whose data does not say
	// "delete: true".
	ProtectDeletes bool
	// Budget is how long a review may take, with what it waits; 0 is 800 ms. A review that is not
	// judged by then is refused.
	Budget time.Duration
}

// NewHandler returns a handler that knows some types.
func NewHandler(types Types, o Options) *Handler {
	o.Budget = cmp.Or(o.Budget, maxBudget)
	return &Handler{types: types, options: o, lanes: newLanes()}
}

// Use replaces the types. Reviews that are being answered go on with the old ones.
func (h *Handler) Use(types Types) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.types = types
	h.counts.setStale(false)
}

// Keep says in the metrics that newer types could not be read, so that the old ones stay.
func (h *Handler) Keep() { h.counts.setStale(true) }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz", "/metrics":
		h.tell(w, r)
	case "/validate":
		begin := time.Now()
		code := h.answer(w, r)
		h.counts.add(code, time.Since(begin))
	default:
		http.NotFound(w, r)
	}
}

// tell answers a question about the server itself.
func (h *Handler) tell(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	text := "ok\n"
	if r.URL.Path == "/metrics" {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		text = h.counts.text()
	}
	_, _ = io.WriteString(w, text) // the client has gone away
}

// The outcomes of a request, for the metrics.
const (
	allowed = "allowed"
	refused = "refused"
	invalid = "invalid"
	late    = "late" // refused, for there was no time to judge it
)

// answer answers a review, and returns the outcome.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request) string {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return invalid
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "the content type must be application/json", http.StatusUnsupportedMediaType)
		return invalid
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		http.Error(w, "the review must not be compressed", http.StatusUnsupportedMediaType)
		return invalid
	}
	raw, place, err := h.read(w, r)
	var tooLarge *http.MaxBytesError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, fmt.Sprintf("the review is larger than %d MiB", maxBody>>20), http.StatusRequestEntityTooLarge)
		return invalid
	case errors.Is(err, errBusy):
		return tooLate(w, raw, "the webhook has too much to do, so this was not checked; try again")
	case errors.As(err, &slow) && slow.Timeout():
		return tooLate(w, raw, "the review did not arrive in time, so this was not checked; try again")
	case err != nil:
		http.Error(w, "the review cannot be read", http.StatusBadRequest)
		return invalid
	}
	defer place.leave()
	out, err := h.review(raw, func() bool {
		runtime.Gosched() // small reviews go first
		return time.Now().After(place.end)
	})
	if err != nil {
		http.Error(w, printable(shorten(err.Error())), http.StatusBadRequest)
		return invalid
	}
	return out.write(w)
}

// errBusy says that other reviews have all places.
var errBusy = errors.New("there is no place for the review")

// A place is where a review is judged.
type place struct {
	leave func()
	end   time.Time // of the budget
}

// read reads a review, and takes the place in which it is judged. Of an error it returns the part
// that was read. Half of the budget may pass before.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) ([]byte, place, error) {
	control := http.NewResponseController(w)
	await := func(until time.Time) { _ = control.SetReadDeadline(until) } // not every writer has one
	await(time.Now().Add(maxPause))
	defer await(time.Time{})
	from := http.MaxBytesReader(w, r.Body, maxBody)
	head, err := io.ReadAll(io.LimitReader(from, smallBody+1))
	if err != nil {
		return head, place{}, err
	}
	begin := time.Now()
	end, start := begin.Add(h.options.Budget), begin.Add(h.options.Budget/2)
	if len(head) <= smallBody {
		leave, ok := enter(r.Context(), h.lanes.small, start)
		if !ok {
			return head, place{}, errBusy
		}
		return head, place{leave, end}, nil
	}
	drop, ok := enter(r.Context(), h.lanes.reading, start)
	if !ok {
		return head, place{}, errBusy
	}
	await(start)
	all := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 2*smallBody), maxBody)+bytes.MinRead))
	_, _ = all.Write(head) // a buffer takes everything
	if _, err = all.ReadFrom(from); err != nil {
		drop()
		return head, place{}, err
	}
	leave, ok := enter(r.Context(), h.lanes.large, start)
	if !ok {
		drop()
		return head, place{}, errBusy
	}
	return all.Bytes(), place{func() { leave(); drop() }, end}, nil
}

// tooLate refuses a review of which only the beginning was read: what nobody looked at is not let
// in. If the beginning does not say which review it is, the answer is none.
func tooLate(w http.ResponseWriter, begin []byte, why string) string {
	r, ok := peek(begin)
	if !ok {
		w.Header().Set("Retry-After", "1")
		http.Error(w, why, http.StatusServiceUnavailable)
		return late
	}
	r.Response = &response{UID: r.Request.UID, Status: &status{Status: "Failure", Code: http.StatusTooManyRequests,
		Reason: "TooManyRequests", Message: why}}
	r.Request = nil
	body, err := marshal(r)
	if err != nil {
		http.Error(w, why, http.StatusServiceUnavailable)
		return late
	}
	answer{body: body, outcome: late}.write(w)
	return late
}

// An answer is the answer to a review, as JSON.
type answer struct {
	body    []byte
	outcome string
}

// write writes an answer, and returns the outcome.
func (a answer) write(w http.ResponseWriter) string {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(a.body) // the client has gone away
	return a.outcome
}

// review answers a review. Once stop returns true, it is refused. An error says that it is none.
func (h *Handler) review(raw []byte, stop func() bool) (answer, error) {
	r, err := readReview(raw)
	if err != nil {
		return answer{}, err
	}
	response, err := h.judge(r.Request, stop)
	if err != nil {
		return answer{}, err
	}
	response.UID = r.Request.UID
	response.Warnings = bounded(response.Warnings)
	body, err := marshal(review{APIVersion: r.APIVersion, Kind: r.Kind, Response: response})
	outcome := refused
	switch {
	case response.Allowed:
		outcome = allowed
	case response.isLate:
		outcome = late
	}
	return answer{body, outcome}, err
}

// bounds are the upper ends of the buckets of the duration, in seconds.
var bounds = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1}

// counts are the metrics of a handler.
type counts struct {
	mu       sync.Mutex
	outcomes map[string]int
	buckets  [8]int // as many as bounds
	seconds  float64
	all      int
	isStale  bool
}

func (c *counts) setStale(isStale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isStale = isStale
}

func (c *counts) add(outcome string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcomes == nil {
		c.outcomes = map[string]int{}
	}
	c.outcomes[outcome]++
	c.all++
	c.seconds += took.Seconds()
	for i, bound := range bounds {
		if took.Seconds() <= bound {
			c.buckets[i]++
		}
	}
}

// text returns the metrics in the text format of Prometheus.
func (c *counts) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	b.WriteString("# HELP prcheck_webhook_reviews_total Reviews by outcome; late ones are refused unchecked, invalid " +
		"ones are no reviews.\n# TYPE prcheck_webhook_reviews_total counter\n")
	for _, outcome := range []string{allowed, refused, late, invalid} {
		fmt.Fprintf(&b, "prcheck_webhook_reviews_total{outcome=%q} %d\n", outcome, c.outcomes[outcome])
	}
	b.WriteString("# HELP prcheck_webhook_review_seconds How long an answer took.\n# TYPE " +
		"prcheck_webhook_review_seconds histogram\n")
	for i, bound := range bounds {
		fmt.Fprintf(&b, "prcheck_webhook_review_seconds_bucket{le=\"%v\"} %d\n", bound, c.buckets[i])
	}
	fmt.Fprintf(&b, "prcheck_webhook_review_seconds_bucket{le=\"+Inf\"} %d\n", c.all)
	fmt.Fprintf(&b, "prcheck_webhook_review_seconds_sum %v\nprcheck_webhook_review_seconds_count %d\n", c.seconds, c.all)
	stale := 0
	if c.isStale {
		stale = 1
	}
	fmt.Fprintf(&b, "# HELP prcheck_webhook_stale Whether newer specifications could not be read.\n# TYPE "+
		"prcheck_webhook_stale gauge\nprcheck_webhook_stale %d\n", stale)
	return b.String()
}

// The lanes of a handler. Large reviews have places of their own, so that they never keep small
// ones waiting.
type lanes struct {
	small   chan struct{} // small reviews that are judged
	reading chan struct{} // large reviews that are held in memory
	large   chan struct{} // those of them that are judged
}

// The places of the lanes.
const (
	maxSmall   = 64
	maxReading = 16
)

func newLanes() lanes {
	return lanes{small: make(chan struct{}, maxSmall), reading: make(chan struct{}, maxReading),
		large: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// enter takes a place of a lane, and returns what gives it back. It returns false if none is free
// before a point in time, or before ctx ends.
func enter(ctx context.Context, lane chan struct{}, until time.Time) (leave func(), ok bool) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, true
	case <-ctx.Done():
		return nil, false
	}
}
