package live

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// silentLog drops what the server says of broken connections.
func silentLog() *log.Logger { return log.New(io.Discard, "", 0) }

// keys let people in: the token as often as they like, the ticket once. The ticket is for a browser that is started,
// since others on this machine may read the arguments of a program.
type keys struct {
	token string

	mu     sync.Mutex
	ticket string // "" once it is used
}

// newKeys returns random keys of 128 bits.
func newKeys() *keys { return &keys{token: randomKey(), ticket: randomKey()} }

func randomKey() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// equal compares keys in constant time.
func equal(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// admits reports whether a key lets somebody in. A ticket is used by that.
func (k *keys) admits(key string) bool {
	if equal(k.token, key) {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	isTicket := equal(k.ticket, key)
	if isTicket {
		k.ticket = ""
	}
	return isTicket
}

// isUnused reports whether nobody used the ticket.
func (k *keys) isUnused() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ticket != ""
}

// enterPage leads from the address with the token to the one without. A redirect would not do: a browser that comes
// from another page sends the new cookie only with a request that this page makes.
const enterPage = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">` +
	`<title>prcheck</title></head><body><p><a href="/">To the page</a></p></body></html>`

// ServeHTTP answers a request of a browser.
func (s *Session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", s.policy+"; frame-ancestors 'none'")
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !s.isOurs(r) {
		http.NotFound(w, r)
		return
	}
	switch key, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); {
	case r.URL.Path == "/" && s.mayRead(r):
		s.servePage(w, r)
	case r.URL.Path == "/events" && r.Method == http.MethodGet && s.mayRead(r):
		s.serveEvents(w, r)
	case rest == "" && key != "" && r.Method == http.MethodGet && isNavigation(r) && s.keys.admits(key):
		http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: s.keys.token, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode})
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, enterPage)
	default:
		http.NotFound(w, r)
	}
}

// cookieName returns a name that other servers of this machine do not have: cookies are shared by all ports.
func (s *Session) cookieName() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return "prcheck-" + port
}

// mayRead reports whether a request has the cookie and comes from the page itself or from a person.
func (s *Session) mayRead(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	cookie, err := r.Cookie(s.cookieName())
	return err == nil && equal(s.keys.token, cookie.Value)
}

// isNavigation reports whether a request is for a page in a tab, and not for a part of another page.
func isNavigation(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return dest == "" || dest == "document"
}

// servePage serves the page as it is now.
func (s *Session) servePage(w http.ResponseWriter, r *http.Request) {
	page, err := s.render(true)
	if err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	if r.Method == http.MethodHead {
		return
	}
	_, err = w.Write(page)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.final != nil {
		s.finals++
		close(s.viewed)
		s.viewed = make(chan struct{})
	}
}

// join counts a reader, unless there are too many.
func (s *Session) join() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers == maxReaders {
		return false
	}
	s.readers++
	return true
}

func (s *Session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers--
}

// serveEvents tells a page what happens, until the run has ended or the page is closed.
func (s *Session) serveEvents(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.ParseUint(firstOf(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")), 10, 64)
	if err != nil {
		http.Error(w, "after must be the number of an event", http.StatusBadRequest)
		return
	}
	if !s.join() {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	write := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(10 * time.Second))
		_, err := io.WriteString(w, text)
		return err == nil && control.Flush() == nil
	}
	for {
		next, changed, isOver, isKnown := s.events.since(after)
		if !isKnown {
			write("event: reload\ndata: {}\n\n")
			return
		}
		var text strings.Builder
		for _, e := range next {
			fmt.Fprintf(&text, "id: %d\nevent: %s\ndata: %s\n\n", e.id, e.name, e.data)
			after = e.id
		}
		if !write(text.String()+": \n\n") || isOver {
			return
		}
		select {
		case <-changed:
		case <-time.After(15 * time.Second):
		case <-r.Context().Done():
			return
		}
	}
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
