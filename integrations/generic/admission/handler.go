package admission

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integrations/generic/validate"
)

// maxBody is how many bytes a review may have: the old and the new object together.
const maxBody = 8 << 20

// Types finds what is known of resource types, such as
// "Microsoft.Cache/Redis@2018-03-01" or "apps/v1/deployments". The error names the nearest
// type. It need not be safe for concurrent use.
type Types interface {
	Type(name string) (*validate.Type, error)
}

// A Handler answers reviews at /validate, its health at /healthz and its metrics at /metrics.
type Handler struct {
	options Options
	counts  counts

	mu    sync.Mutex // of types, for schemas are read while they are used
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
}

// NewHandler returns a handler that knows some types.
func NewHandler(types Types, o Options) *Handler { return &Handler{types: types, options: o} }

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
)

// answer answers a review and returns the outcome.
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
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, fmt.Sprintf("the review is larger than %d MiB", maxBody>>20), http.StatusRequestEntityTooLarge)
		return invalid
	case err != nil:
		http.Error(w, "the review cannot be read", http.StatusBadRequest)
		return invalid
	}
	out, err := h.Review(raw)
	if err != nil {
		http.Error(w, printable(err.Error()), http.StatusBadRequest)
		return invalid
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out.body) // the client has gone away
	if out.isAllowed {
		return allowed
	}
	return refused
}

// An answer is the answer to a review, as JSON.
type answer struct {
	body      []byte
	isAllowed bool
}

// Review answers a review. An error says that it is none.
func (h *Handler) Review(raw []byte) (answer, error) {
	r, err := readReview(raw)
	if err != nil {
		return answer{}, err
	}
	response, err := h.judge(r.Request)
	if err != nil {
		return answer{}, err
	}
	response.UID = r.Request.UID
	response.Warnings = bounded(response.Warnings)
	body, err := marshal(review{APIVersion: r.APIVersion, Kind: r.Kind, Response: response})
	return answer{body: body, isAllowed: response.Allowed}, err
}
