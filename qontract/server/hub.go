package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// DefaultTTL is how long a hub keeps a bundle after its last request, unless the bundle is
// the latest.
const DefaultTTL = 20 * time.Minute

// HubOptions are the settings of a hub. The zero value works.
type HubOptions struct {
	// Load returns the bundle that a reload makes the latest. If it is nil, a
	// reload fails.
	Load func(context.Context) (*bundle.Bundle, error)
	// TTL is how long a bundle is kept after its last request, unless it is the
	// latest. 0 means [DefaultTTL].
	TTL    time.Duration
	Limits Limits
	// Observe is called with each exchange before the answer is sent. Several
	// goroutines call it at once. It may be nil.
	Observe func(Exchange)
	// Log is called with one line about each event that is not a request, such as
	// a reload. It may be nil.
	Log func(line string)
	// Metrics counts what the hub does, for /metrics. If it is nil, nothing is
	// counted and /metrics is empty.
	Metrics Metrics
}

// A Hub is a qontract-server for any number of bundles. Several goroutines may use it at
// once.
type Hub struct {
	opts      HubOptions
	handler   *handler
	reloading chan struct{} // one reload at a time

	mu      sync.RWMutex
	bundles []*loadedBundle // in the order of loading
	newest  *loadedBundle
}

// A loadedBundle is a bundle of a hub, with the time at which it expires.
type loadedBundle struct {
	*Snapshot
	expires time.Time
}

// NewHub returns a hub without bundles.
func NewHub(opts HubOptions) *Hub {
	if opts.TTL == 0 {
		opts.TTL = DefaultTTL
	}
	if opts.Log == nil {
		opts.Log = func(string) {}
	}
	if opts.Metrics == nil {
		opts.Metrics = noMetrics{}
	}
	opts.Limits = opts.Limits.withDefaults()
	h := &Hub{opts: opts, reloading: make(chan struct{}, 1)}
	h.handler = &handler{
		snapshotStore: h, onQuery: h.extendExpiry, observe: opts.Observe,
		limiter: newEvaluationLimiter(opts.Limits), persisted: newQueryCache(), answers: newAnswerCache(opts.Limits.Answers),
		extraRoutes: map[string]extraRoute{
			"reload":  {http.MethodPost, h.answerReload},
			"cache":   {http.MethodGet, h.answerCache},
			"metrics": {http.MethodGet, h.answerMetrics},
		},
	}
	return h
}

// Add makes a bundle the latest. If the hub has the bundle already, it keeps the old copy
// and makes that the latest. If the GraphQL types of the bundle cannot be used, Add returns
// an error and the hub does not change.
func (h *Hub) Add(b *bundle.Bundle) error {
	if _, err := h.add(b); err != nil {
		return err
	}
	return nil
}

// add adds a bundle as [Hub.Add] does. It returns whether the hub did not have the bundle
// before.
func (h *Hub) add(b *bundle.Bundle) (isNew bool, err error) {
	h.mu.RLock()
	entry, latest := h.lookUp(b.SHA256()), h.newest
	h.mu.RUnlock()
	if entry == nil {
		var like *Snapshot
		if latest != nil {
			like = latest.Snapshot
		}
		s, err := newSnapshot(b, like)
		if err != nil {
			return false, err
		}
		entry = &loadedBundle{Snapshot: s}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.dropExpired(now)
	existing := h.lookUp(b.SHA256())
	if existing != nil {
		entry = existing
	} else {
		h.bundles = append(h.bundles, entry)
	}
	entry.expires = now.Add(h.opts.TTL)
	if h.newest == nil {
		h.opts.Metrics.Reloaded() // qontract-server counts the first bundle as a reload
	}
	h.newest = entry
	h.dropExcess()
	h.opts.Metrics.Loaded(entry.Bundle, len(h.bundles))
	return existing == nil, nil
}

// lookUp returns the bundle with a sha256, nil if there is none. The caller holds the lock.
func (h *Hub) lookUp(sha string) *loadedBundle {
	if i := slices.IndexFunc(h.bundles, func(l *loadedBundle) bool { return l.Bundle.SHA256() == sha }); i >= 0 {
		return h.bundles[i]
	}
	return nil
}

// dropExpired drops the bundles that have expired. The latest bundle never expires.
func (h *Hub) dropExpired(now time.Time) {
	h.bundles = slices.DeleteFunc(h.bundles, func(l *loadedBundle) bool { return l != h.newest && l.expires.Before(now) })
}

// dropExcess drops bundles while there are too many: first the bundle that expires next.
func (h *Hub) dropExcess() {
	for len(h.bundles) > h.opts.Limits.Bundles {
		first := -1
		for i, l := range h.bundles {
			if l != h.newest && (first < 0 || l.expires.Before(h.bundles[first].expires)) {
				first = i
			}
		}
		h.opts.Log("forgetting bundle " + h.bundles[first].Bundle.SHA256() + " before its time: there are too many")
		h.bundles = slices.Delete(h.bundles, first, first+1)
	}
}

// latest returns the snapshot of the latest bundle, nil if there is no bundle.
func (h *Hub) latest() *Snapshot {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.newest == nil {
		return nil
	}
	return h.newest.Snapshot
}

// find returns the snapshot of a bundle, nil if the hub does not have it.
func (h *Hub) find(sha string) *Snapshot {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if l := h.lookUp(sha); l != nil {
		return l.Snapshot
	}
	return nil
}

// extendExpiry gives a bundle its full TTL again.
func (h *Hub) extendExpiry(s *Snapshot, _ *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.lookUp(s.Bundle.SHA256()); l != nil {
		l.expires = time.Now().Add(h.opts.TTL)
	}
}

// Reload loads a bundle with HubOptions.Load and makes it the latest. If it returns an
// error, the hub has not changed. Only one reload runs at a time.
func (h *Hub) Reload(ctx context.Context) error {
	select {
	case h.reloading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.reloading }()
	if h.opts.Load == nil {
		return &loadError{errors.New("no bundle to load is configured; set LOAD_METHOD")}
	}
	b, err := h.opts.Load(ctx)
	if err != nil {
		return &loadError{err}
	}
	isNew, err := h.add(b)
	if err != nil {
		return err
	}
	if isNew {
		h.opts.Metrics.Reloaded()
	}
	h.opts.Log("latest bundle: " + b.SHA256())
	return nil
}

// A loadError reports that no bundle could be loaded.
type loadError struct{ error }

// Unwrap returns the cause.
func (e *loadError) Unwrap() error { return e.error }

// answerReload answers POST /reload.
func (h *Hub) answerReload(r *http.Request) *reply {
	err := h.Reload(r.Context())
	if err == nil {
		return emptyReply()
	}
	h.opts.Log("reload: " + err.Error())
	var load *loadError
	if errors.As(err, &load) || r.Context().Err() != nil {
		return newReply(http.StatusServiceUnavailable, typeHTML, "error parsing bundle, not replacing")
	}
	return statusPage(http.StatusInternalServerError)
}

// answerCache answers GET /cache: a list of the bundles. Its body is JSON, and its content
// type is HTML, as in qontract-server.
func (h *Hub) answerCache(*http.Request) *reply {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var expirations, shas []any
	for _, l := range h.bundles {
		sha := l.Bundle.SHA256()
		shas = append(shas, sha)
		expirations = append(expirations, newObject("sha", sha, "expiration", jsonNumber(l.expires.UnixMilli())))
	}
	all := newObject("bundleCache", expirations, "bundles", shas, "routerStack", jsonNumber(int64(len(shas))),
		"searchableFields", shas)
	return newReply(http.StatusOK, typeHTML, jsonText(all))
}

// ServeHTTP answers one request.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isMetricsRequest(r) {
		h.metricsReply().write(w, r)
		return
	}
	path := rawPath(r)
	begin := time.Now()
	watched := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	defer func() { h.opts.Metrics.Answered(r.Method, path, watched.status, time.Since(begin)) }()
	defer func() {
		if p := recover(); p != nil {
			h.opts.Log(strings.Join([]string{"internal error at", r.Method, path}, " "))
			statusPage(http.StatusInternalServerError).write(watched, r)
		}
	}()
	h.handler.ServeHTTP(watched, r)
}

// shutdownGrace is how long running requests may take after the server was told to stop.
const shutdownGrace = 20 * time.Second

// Serve answers the requests of a listener until ctx ends. Then it takes no more requests
// and waits up to 20 seconds for the running ones.
func (h *Hub) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(limitConnections(l, h.opts.Limits.Connections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	h.opts.Log("ending: no more requests are taken")
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	err := server.Shutdown(end)
	if err != nil {
		_ = server.Close() // ends the requests that still run
	}
	if broken := <-served; !errors.Is(broken, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", broken)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("ending: some requests took longer than 20 s and were cut off")
	}
	return err
}

// newObject returns an object of alternating keys and values.
func newObject(pairs ...any) *bundle.Object {
	o := &bundle.Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		v := pairs[i+1]
		if list, ok := v.([]any); ok && list == nil {
			v = []any{}
		}
		o.Set(key, v)
	}
	return o
}

func jsonNumber(n int64) bundle.Number { return bundle.Number(strconv.FormatInt(n, 10)) }

// jsonText returns a value as JSON, as JavaScript writes it.
func jsonText(v any) string { return string(gql.AppendJSON(nil, v)) }
