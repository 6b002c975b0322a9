package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/bundle"
)

// DefaultTTL is how long a bundle is kept that is not the latest and that
// nobody asks.
const DefaultTTL = 20 * time.Minute

// HubOptions say what a hub does besides answering. The zero value works.
type HubOptions struct {
	// Load returns the bundle that a reload brings. Nil: there is none to
	// bring, and a reload fails.
	Load func(context.Context) (*bundle.Bundle, error)
	// TTL is how long a bundle is kept after it was asked last, unless it is
	// the latest; 0 stands for [DefaultTTL].
	TTL    time.Duration
	Limits Limits
	// Observe is told every exchange before the answer is sent, by several
	// goroutines at once. Nil: nobody is told.
	Observe func(Exchange)
	// Log is told in one line what happens besides requests. Nil: nobody is
	// told.
	Log func(line string)
}

// A Hub is a qontract-server for any number of bundles. Several goroutines may
// use it at once.
type Hub struct {
	opts    HubOptions
	site    *site
	metrics *metrics
	turn    chan struct{} // one reload at a time

	mu     sync.RWMutex
	loaded []*loaded // in the order of loading
	newest *loaded
}

// A loaded bundle is kept until it expires.
type loaded struct {
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
	opts.Limits = opts.Limits.withDefaults()
	h := &Hub{opts: opts, metrics: newMetrics(), turn: make(chan struct{}, 1)}
	h.site = &site{
		shelf: h, touch: h.touch, observe: opts.Observe, gate: newGate(opts.Limits), persisted: newPersisted(),
		answers: newAnswers(opts.Limits.Answers),
		own: map[string]ownRoute{
			"reload":  {http.MethodPost, h.reload},
			"cache":   {http.MethodGet, h.cache},
			"metrics": {http.MethodGet, h.metrics.answer},
		},
	}
	return h
}

// Add makes a bundle the latest. One that the hub has already is not replaced,
// but it becomes the latest too. When the GraphQL types of the bundle cannot be
// used, the hub stays as it was.
func (h *Hub) Add(b *bundle.Bundle) error {
	if _, err := h.add(b); err != nil {
		return err
	}
	return nil
}

// add tells whether the bundle is new.
func (h *Hub) add(b *bundle.Bundle) (bool, error) {
	h.mu.RLock()
	known, like := h.at(b.SHA256()), h.newest
	h.mu.RUnlock()
	if known == nil {
		var types *Snapshot
		if like != nil {
			types = like.Snapshot
		}
		s, err := newSnapshot(b, types)
		if err != nil {
			return false, err
		}
		known = &loaded{Snapshot: s}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.expire(now)
	here := h.at(b.SHA256())
	if here != nil {
		known = here
	} else {
		h.loaded = append(h.loaded, known)
	}
	known.expires = now.Add(h.opts.TTL)
	if h.newest == nil {
		h.metrics.reloads.Inc() // as the real server counts
	}
	h.newest = known
	h.shrink()
	h.metrics.holds(known.Bundle, len(h.loaded))
	return here == nil, nil
}

// at finds a bundle; somebody holds the lock.
func (h *Hub) at(sha string) *loaded {
	if i := slices.IndexFunc(h.loaded, func(l *loaded) bool { return l.Bundle.SHA256() == sha }); i >= 0 {
		return h.loaded[i]
	}
	return nil
}

// expire forgets the bundles whose time is over. The latest has no end.
func (h *Hub) expire(now time.Time) {
	h.loaded = slices.DeleteFunc(h.loaded, func(l *loaded) bool { return l != h.newest && l.expires.Before(now) })
}

// shrink forgets the bundles that would expire next when there are too many.
func (h *Hub) shrink() {
	for len(h.loaded) > h.opts.Limits.Bundles {
		first := -1
		for i, l := range h.loaded {
			if l != h.newest && (first < 0 || l.expires.Before(h.loaded[first].expires)) {
				first = i
			}
		}
		h.opts.Log("forgetting bundle " + h.loaded[first].Bundle.SHA256() + " before its time: there are too many")
		h.loaded = slices.Delete(h.loaded, first, first+1)
	}
}

func (h *Hub) latest() *Snapshot {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.newest == nil {
		return nil
	}
	return h.newest.Snapshot
}

func (h *Hub) find(sha string) *Snapshot {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if l := h.at(sha); l != nil {
		return l.Snapshot
	}
	return nil
}

// touch gives a bundle that is asked its full time again.
func (h *Hub) touch(s *Snapshot, _ *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.at(s.Bundle.SHA256()); l != nil {
		l.expires = time.Now().Add(h.opts.TTL)
	}
}

// Reload loads the configured bundle and makes it the latest. When anything
// goes wrong, the hub stays as it was. Only one reload happens at a time.
func (h *Hub) Reload(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.turn }()
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
		h.metrics.reloads.Inc()
	}
	h.opts.Log("latest bundle: " + b.SHA256())
	return nil
}

// A loadError says that there is no bundle to replace anything with.
type loadError struct{ error }

func (e *loadError) Unwrap() error { return e.error }

// reload answers POST /reload.
func (h *Hub) reload(r *http.Request) *reply {
	err := h.Reload(r.Context())
	if err == nil {
		return empty()
	}
	h.opts.Log("reload: " + err.Error())
	var load *loadError
	if errors.As(err, &load) || r.Context().Err() != nil {
		return sent(http.StatusServiceUnavailable, typeHTML, "error parsing bundle, not replacing")
	}
	return refusedPage(http.StatusInternalServerError)
}

// cache answers GET /cache: JSON that says to be text.
func (h *Hub) cache(*http.Request) *reply {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var expirations, shas []any
	for _, l := range h.loaded {
		sha := l.Bundle.SHA256()
		shas = append(shas, sha)
		expirations = append(expirations, object("sha", sha, "expiration", number(l.expires.UnixMilli())))
	}
	all := object("bundleCache", expirations, "bundles", shas, "routerStack", number(int64(len(shas))), "searchableFields", shas)
	return sent(http.StatusOK, typeHTML, jsonText(all))
}

// ServeHTTP answers one request.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := rawPath(r)
	watched := h.metrics.watch(w, r.Method, path)
	defer watched.done()
	defer func() {
		if p := recover(); p != nil {
			h.opts.Log(strings.Join([]string{"internal error at", r.Method, path}, " "))
			refusedPage(http.StatusInternalServerError).write(watched, r)
		}
	}()
	h.site.ServeHTTP(watched, r)
}
