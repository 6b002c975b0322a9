package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A thing is a resource that the service keeps.
type thing struct {
	kind    *kind
	store   object // what was sent
	before  object // what is shown until the time of shown; nil is nothing
	shown   time.Time
	version int
	state   string
	ends    time.Time // of the operation that goes on
	fails   bool      // it ends so
	verb    string
}

// A service plays the types of a book.
type service struct {
	mu       sync.Mutex
	kinds    map[string]*kind  // by id, in lower case
	things   map[string]*thing // by id, in lower case
	now      func() time.Time
	writes   []string // "METHOD id"
	requests int
	failing  bool // operations fail
	nasty    uint64
}

func newService(all []*kind, now func() time.Time, seed uint64) *service {
	s := &service{kinds: map[string]*kind{}, things: map[string]*thing{}, now: now, nasty: seed}
	for _, k := range all {
		s.kinds[strings.ToLower(k.id)] = k
	}
	return s
}

// The ways in which a service tells of an operation.
const (
	atOnce = iota
	byDocument
	byLocation
	byState
	ways
)

// draw returns a number below n that follows from a type.
func (s *service) draw(k *kind, about string, n uint64) uint64 {
	m := maker{k: k, seed: s.nasty}
	return m.draw(about, n)
}

// hasState reports whether a type tells how its last operation ended.
func (k *kind) hasState() bool {
	return k.get.property("properties").property("provisioningState").is()
}

// RoundTrip implements [http.RoundTripper].
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var raw []byte
	if r.Body != nil {
		var err error
		if raw, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	const often = 41
	if s.requests%often == 0 {
		return answer(r, http.StatusTooManyRequests, object{"error": object{"code": "TooManyRequests"}}, "Retry-After", "2"),
			nil
	}
	id := strings.ToLower(r.URL.Path)
	if rest, isPoll := strings.CutPrefix(id, "/operations"); isPoll {
		return s.poll(r, rest), nil
	}
	k := s.kinds[id]
	if k == nil {
		return answer(r, http.StatusNotFound, object{"error": object{"code": "NotFound", "message": id}}), nil
	}
	t := s.settled(id)
	if r.Method == http.MethodGet {
		return s.get(r, k, t), nil
	}
	s.writes = append(s.writes, r.Method+" "+id)
	var body object
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		if err := d.Decode(&body); err != nil {
			return answer(r, http.StatusBadRequest, object{"error": object{"code": "InvalidRequestContent"}}), nil
		}
	}
	if t != nil && s.now().Before(t.ends) {
		return answer(r, http.StatusConflict, object{"error": object{"code": "AnotherOperationInProgress"}}, "Retry-After",
			"5"), nil
	}
	switch r.Method {
	case http.MethodDelete:
		delete(s.things, id)
		return answer(r, http.StatusOK, nil), nil
	case http.MethodPut, http.MethodPatch:
		return s.write(r, k, id, t, body), nil
	}
	return answer(r, http.StatusMethodNotAllowed, nil), nil
}

// settled returns a thing after the operations whose time is over.
func (s *service) settled(id string) *thing {
	t := s.things[id]
	if t != nil && !t.ends.IsZero() && !s.now().Before(t.ends) {
		t.ends, t.state = time.Time{}, "Succeeded"
		if t.fails {
			t.state = "Failed"
		}
	}
	return t
}

// write creates or changes a thing.
func (s *service) write(r *http.Request, k *kind, id string, t *thing, body object) *http.Response {
	isNew := t == nil
	if isNew {
		if r.Method == http.MethodPatch {
			return answer(r, http.StatusNotFound, object{"error": object{"code": "ResourceNotFound"}})
		}
		t = &thing{kind: k, state: "Succeeded"}
	}
	next := asObject(k.taken(k.root(), body))
	if r.Method == http.MethodPatch {
		if !k.hasPatch {
			return answer(r, http.StatusMethodNotAllowed, nil)
		}
		if at := foreign(k.patch, body, ""); at != "" {
			return answer(r, http.StatusBadRequest, object{"error": object{"code": "InvalidPatch", "target": at}})
		}
		next = merged(t.store, next)
	}
	if !isNew {
		if at := k.moved(k.root(), t.store, next); at != "" {
			return answer(r, http.StatusConflict,
				object{"error": object{"code": "PropertyChangeNotAllowed", "target": strings.ReplaceAll(at, "/", "."),
					"message": fmt.Sprintf("changing property '%s' is not allowed", at)}})
		}
		next = asObject(k.kept(k.root(), t.store, next))
	}
	t.before, t.store, t.version = t.store, next, t.version+1
	const lag = 20 * time.Second
	if t.shown = s.now(); s.draw(k, "lag", 5) == 0 {
		t.shown = t.shown.Add(lag)
	}
	s.things[id] = t
	return s.begin(r, k, id, t, isNew)
}

// begin begins the operation of a write.
func (s *service) begin(r *http.Request, k *kind, id string, t *thing, isNew bool) *http.Response {
	way := s.draw(k, "way", ways)
	if way == byState && !k.hasState() {
		way = byDocument
	}
	if way == atOnce && s.failing {
		way = byDocument
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	if way == atOnce {
		t.state = "Succeeded"
		return answer(r, status, s.view(t))
	}
	const takes = 30 * time.Second
	t.ends, t.state, t.fails, t.verb = s.now().Add(takes), "Updating", s.failing, r.Method
	at := "https://" + r.URL.Host + "/operations" + id + "?api-version=1"
	switch way {
	case byDocument:
		return answer(r, status, s.view(t), "Azure-AsyncOperation", at+"&kind=document", "Retry-After", "15")
	case byLocation:
		return answer(r, http.StatusAccepted, nil, "Location", at+"&kind=location", "Retry-After", "15")
	}
	return answer(r, status, s.view(t))
}

// poll tells how an operation goes.
func (s *service) poll(r *http.Request, id string) *http.Response {
	t := s.settled(id)
	if t == nil {
		return answer(r, http.StatusNotFound, nil)
	}
	isRunning := !t.ends.IsZero()
	failure := object{"code": "Exploded", "message": "the service failed on purpose"}
	if r.URL.Query().Get("kind") == "location" {
		switch {
		case isRunning:
			return answer(r, http.StatusAccepted, nil, "Retry-After", "15")
		case t.state == "Failed":
			return answer(r, http.StatusConflict, object{"error": failure})
		}
		return answer(r, http.StatusOK, nil)
	}
	switch {
	case isRunning:
		return answer(r, http.StatusOK, object{"status": "InProgress"}, "Retry-After", "15")
	case t.state == "Failed":
		return answer(r, http.StatusOK, object{"status": "Failed", "error": failure})
	}
	return answer(r, http.StatusOK, object{"status": "Succeeded"})
}

// answer makes an answer with a JSON body, none for nil.
func answer(r *http.Request, status int, body object, headers ...string) *http.Response {
	res := &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{}, Body: http.NoBody,
		ProtoMajor: 1, ProtoMinor: 1, Request: r}
	for i := 0; i < len(headers); i += 2 {
		res.Header.Set(headers[i], headers[i+1])
	}
	if body == nil {
		return res
	}
	raw, _ := json.Marshal(body) // answers always encode
	res.Header.Set("Content-Type", "application/json")
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return res
}
