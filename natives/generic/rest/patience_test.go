package rest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/generic/family"
)

// All reads together wait for a service that is down no longer than the patience. Later reads try once
// more, and after a while the patience begins anew.
func TestPatience(t *testing.T) {
	down, up := true, 0
	s := newService(t, *family.ARM)
	s.put(thing, object{"id": thing})
	s.before = func(sent) *http.Response {
		if !down {
			up++
			return nil
		}
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{},
			Body: io.NopCloser(bytes.NewReader(nil))}
	}
	p := &Patience{Idle: 20 * time.Second}
	read := func() (took time.Duration, sent int, err error) {
		c := s.client()
		c.Patience = p
		began, before := s.time(), len(s.log)
		_, err = c.Read(t.Context(), target(Abilities{}))
		return s.time().Sub(began), len(s.log) - before, err
	}
	took, sent, err := read()
	if err == nil || took == 0 || took > p.Idle || sent < 2 {
		t.Errorf("the first read took %s with %d requests, %v", took, sent, err)
	}
	if took, sent, err = read(); err == nil || took > p.Idle || sent == 0 {
		t.Errorf("the second one took %s with %d requests, %v", took, sent, err)
	}
	if took, sent, err = read(); err == nil || took > 0 || sent != 1 {
		t.Errorf("when the patience was over it took %s with %d requests, %v", took, sent, err)
	}
	s.now = s.now.Add(time.Minute)
	if took, sent, err = read(); err == nil || took == 0 || sent < 2 {
		t.Errorf("a minute later it took %s with %d requests, %v", took, sent, err)
	}
	down = false
	if took, _, err = read(); err != nil || took > 0 || up == 0 {
		t.Errorf("of the service that is up: %s, %v", took, err)
	}
}

// The reads of one client end, also if the service answers, but never as it should.
func TestMaxRead(t *testing.T) {
	s := newService(t, *family.ARM)
	s.before = func(sent) *http.Response {
		s.now = s.now.Add(15 * time.Second)
		return &http.Response{StatusCode: http.StatusRequestTimeout, Header: http.Header{},
			Body: io.NopCloser(bytes.NewReader(nil))}
	}
	c := s.client()
	c.Patience, c.MaxRead, c.Attempts = &Patience{Idle: 20 * time.Second}, 2*time.Minute, 100
	began := s.time()
	if _, err := c.Read(t.Context(), target(Abilities{})); err == nil ||
		s.time().Sub(began) > 2*time.Minute+15*time.Second {
		t.Errorf("it took %s, %v", s.time().Sub(began), err)
	}
}
