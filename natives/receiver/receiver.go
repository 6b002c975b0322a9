package receiver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The bounds of what is read and remembered.
const (
	minToken     = 16      // characters
	maxBody      = 5 << 20 // bytes; a push of thousands of commits has some
	maxAtOnce    = 4       // bodies that are read at once
	maxGenerated = 5_000   // events of which each of two generations remembers the digest
)

// A Receiver takes events and wakes a loop. Several goroutines may use it.
type Receiver struct {
	token  []byte
	woken  chan struct{}
	reader chan struct{}

	mu          sync.Mutex
	isKnown     bool // the names are known
	names       map[string]bool
	seen, older map[[sha256.Size]byte]bool
}

// New returns a receiver of events whose senders know a token.
func New(token string) (*Receiver, error) {
	if token = strings.TrimSpace(token); len(token) < minToken {
		return nil, fmt.Errorf("the token of events needs at least %d characters; make one with: openssl rand -hex 32",
			minToken)
	}
	return &Receiver{token: []byte(token), woken: make(chan struct{}, 1), reader: make(chan struct{}, maxAtOnce),
		seen: map[[sha256.Size]byte]bool{}, older: map[[sha256.Size]byte]bool{}}, nil
}

// Woken has a value if something happened since the last one was taken.
func (r *Receiver) Woken() <-chan struct{} { return r.woken }

// Watch says which names wake. Nil is all names.
func (r *Receiver) Watch(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isKnown, r.names = names != nil, map[string]bool{}
	for _, name := range names {
		r.names[Name(name)] = true
	}
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch req.Method {
	case http.MethodPost:
	case http.MethodOptions: // the handshake of CloudEvents
		if from := req.Header.Get("WebHook-Request-Origin"); from != "" {
			w.Header().Set("WebHook-Allowed-Origin", from)
		}
		w.Header().Set("Allow", "POST")
		return
	default:
		w.Header().Set("Allow", "POST")
		http.Error(w, "events are posted", http.StatusMethodNotAllowed)
		return
	}
	signature, isSigned := req.Header.Get("X-Hub-Signature-256"), req.Header.Get("X-Hub-Signature-256") != ""
	if !isSigned && !r.knows(req) {
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
		return
	}
	select {
	case r.reader <- struct{}{}:
		defer func() { <-r.reader }()
	default:
		http.Error(w, "too many events at once", http.StatusServiceUnavailable)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large, or did not come", http.StatusRequestEntityTooLarge)
		return
	}
	if isSigned && !r.isSignature(signature, raw) {
		http.Error(w, "the signature is wrong", http.StatusUnauthorized)
		return
	}
	r.take(w, req, raw, isSigned)
}

// take takes an event whose sender is known. A signature is of the body alone: anybody can send it with other headers.
func (r *Receiver) take(w http.ResponseWriter, req *http.Request, raw []byte, isSigned bool) {
	names, err := namesOf(req, raw, isSigned)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch woke, isNew := r.wake(digest(req, raw, isSigned), names); {
	case !isNew:
		http.Error(w, "this event came before", http.StatusConflict)
	case woke:
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "the next round begins soon\n") // whoever sent it need not read it
	default:
		_, _ = io.WriteString(w, "nothing here depends on it\n") // as above
	}
}

// digest returns what two events have in common that are the same. A push back and forth has one body twice, but GitLab
// gives each event an id.
func digest(req *http.Request, raw []byte, isSigned bool) [sha256.Size]byte {
	h := sha256.New()
	if !isSigned {
		for _, name := range []string{"X-GitHub-Event", "X-Gitlab-Event-UUID", "Ce-Id", "Ce-Source", "Ce-Subject"} {
			_, _ = fmt.Fprintf(h, "%q ", req.Header.Get(name))
		}
	}
	_, _ = h.Write(raw) // a hash takes everything
	return [sha256.Size]byte(h.Sum(nil))
}

// wake wakes the loop if an event is new, and about something that matters.
func (r *Receiver) wake(id [sha256.Size]byte, names []string) (woke, isNew bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[id] || r.older[id] {
		return false, false
	}
	if len(r.seen) == maxGenerated {
		r.seen, r.older = map[[sha256.Size]byte]bool{}, r.seen
	}
	r.seen[id] = true
	if len(names) == 0 || r.isKnown && !slices.ContainsFunc(names, func(name string) bool { return r.names[name] }) {
		return false, true
	}
	select {
	case r.woken <- struct{}{}:
	default: // it is awake already
	}
	return true, true
}

// knows reports whether a request has the token in a header.
func (r *Receiver) knows(req *http.Request) bool {
	_, password, _ := req.BasicAuth()
	bearer, isBearer := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		bearer = ""
	}
	known := 0
	for _, text := range []string{req.Header.Get("X-Gitlab-Token"), password, bearer} {
		is, want := sha256.Sum256([]byte(text)), sha256.Sum256(r.token)
		known |= subtle.ConstantTimeCompare(is[:], want[:])
	}
	return known == 1
}

// isSignature reports whether a text is the signature of a body with the token.
func (r *Receiver) isSignature(text string, raw []byte) bool {
	is, err := hex.DecodeString(strings.TrimPrefix(text, "sha256="))
	h := hmac.New(sha256.New, r.token)
	_, _ = h.Write(raw) // a hash takes everything
	return err == nil && strings.HasPrefix(text, "sha256=") && hmac.Equal(is, h.Sum(nil))
}

// grace is how long requests may take after the receiver was told to stop.
const grace = 5 * time.Second

// Serve takes the events of a listener while do runs, and returns the error of do.
func (r *Receiver) Serve(ctx context.Context, l net.Listener, do func() error) error {
	server := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0)}
	var serving sync.WaitGroup
	var served error
	serving.Go(func() { served = server.Serve(l) })
	err := do()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(end) != nil {
		_ = server.Close() // requests that still run are cut off
	}
	serving.Wait()
	if !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("taking events: %w", served))
	}
	return err
}
