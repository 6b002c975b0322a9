package state_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/state"
)

// only makes requests of one method fail; if header is not "", only those with the header.
func only(method, header string, f fakes3.Fault) func(*http.Request) fakes3.Fault {
	return func(r *http.Request) fakes3.Fault {
		if r.Method == method && (header == "" || r.Header.Get(header) != "") {
			return f
		}
		return fakes3.Fault{}
	}
}

func TestOpenS3(t *testing.T) {
	ignore := fakes3.Fault{Ignore: true}
	denied, broken := fakes3.Fault{Status: 403}, fakes3.Fault{Status: 503}
	const useless = "the store does not keep to the conditions of writes (If-Match, If-None-Match)"
	for _, c := range []struct {
		name, place string
		fault       func(*http.Request) fakes3.Fault
		to          state.Access
		want        string
		is          error
	}{
		{name: "good", place: "s3://memory/p", to: state.Writing},
		{name: "whole bucket", place: "s3://memory", to: state.Writing},
		{name: "slash", place: "s3://memory/p/", to: state.Writing},
		{name: "to read", place: "s3://memory/p"},
		{name: "ignores all", place: "s3://memory/p", fault: only("PUT", "", ignore), to: state.Writing, want: useless},
		{name: "ignores If-Match", place: "s3://memory/p", fault: only("PUT", "If-Match", ignore), to: state.Writing,
			want: useless},
		{name: "ignores If-None-Match", place: "s3://memory/p", fault: only("PUT", "If-None-Match", ignore),
			to: state.Writing, want: useless},
		{name: "knows no conditions", place: "s3://memory/p", fault: only("PUT", "If-None-Match", fakes3.Fault{Status: 501}),
			to:   state.Writing,
			want: useless},
		{name: "refuses them all", place: "s3://memory/p", fault: only("PUT", "If-Match", fakes3.Fault{Status: 412}),
			to:   state.Writing,
			want: "refuses writes whose condition holds"},
		{name: "ignores all, to read", place: "s3://memory/p", fault: only("PUT", "", ignore)},
		{name: "no bucket", place: "s3://other/p", to: state.Writing, want: "opening the state s3://other/p: NoSuchBucket"},
		{name: "no bucket, to read", place: "s3://other/p", want: "opening the state s3://other/p: NoSuchBucket"},
		{name: "only to read", place: "s3://memory/p", fault: only("PUT", "", denied), to: state.Writing,
			want: "it can only be read", is: state.ErrReadOnly},
		{name: "nothing allowed", place: "s3://memory/p", fault: func(*http.Request) fakes3.Fault { return denied },
			to:   state.Writing,
			want: "access is denied (Forbidden); it takes s3:ListBucket"},
		{name: "nothing allowed, to read", place: "s3://memory/p", fault: func(*http.Request) fakes3.Fault { return denied },
			want: "access is denied (Forbidden); it takes s3:ListBucket"},
		{name: "trouble", place: "s3://memory/p", fault: func(*http.Request) fakes3.Fault {
			return broken
		}, to: state.Writing,
			want: "it cannot be reached", is: state.ErrUnreachable},
		{name: "trouble, to read", place: "s3://memory/p", fault: func(*http.Request) fakes3.Fault { return broken },
			want: "it cannot be reached", is: state.ErrUnreachable},
		{name: "trouble later", place: "s3://memory/p", fault: only("PUT", "If-Match", broken), to: state.Writing,
			want: "it cannot be reached", is: state.ErrUnreachable},
		{name: "cut off", place: "s3://memory/p", fault: func(*http.Request) fakes3.Fault { return fakes3.Fault{Lose: true} },
			want: "it cannot be reached", is: state.ErrUnreachable},
		{name: "no place", place: "s3://", want: `opening the state: "s3://" is no place for it: give s3://BUCKET/PREFIX.`},
		{name: "dots", place: "s3://memory/a/../b", want: "is no place for it"},
		{name: "a question", place: "s3://memory/a?b", want: "is no place for it"},
		{name: "too long", place: "s3://memory/" + strings.Repeat("a/", 300) + "a", want: "is no place for it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := fakes3.Start(t)
			fake.Fail(c.fault)
			s, err := state.At(t.Context(), c.place, c.to)
			fake.Fail(nil)
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want == "":
				if _, err := s.Read(t.Context(), "k"); !errors.Is(err, state.ErrNotFound) {
					t.Errorf("it cannot be read: %v", err)
				}
			case err == nil || !strings.Contains(err.Error()+".", c.want) || c.is != nil && !errors.Is(err, c.is):
				t.Errorf("got %v, want …%s…", err, c.want)
			case c.is == nil && (errors.Is(err, state.ErrUnreachable) || errors.Is(err, state.ErrReadOnly)):
				t.Errorf("%v is taken for nobody's mistake", err)
			case strings.Contains(err.Error(), "sesame"):
				t.Errorf("a secret is told: %v", err)
			}
			if errors.Is(err, state.ErrReadOnly) {
				if _, err := s.Read(t.Context(), "k"); !errors.Is(err, state.ErrNotFound) {
					t.Errorf("it cannot be read: %v", err)
				}
			}
			if left := fake.Keys(); len(left) != 0 && c.name != "trouble later" {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		fakes3.Start(t)
		t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
		if _, err := state.At(t.Context(), "s3://memory/p", state.Writing); !errors.Is(err, state.ErrUnreachable) ||
			!strings.Contains(err.Error(), "connection refused") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no credentials", func(t *testing.T) {
		fakes3.Start(t)
		t.Setenv("AWS_ACCESS_KEY_ID", "")
		if _, err := state.At(t.Context(), "s3://memory/p", state.Writing); err == nil ||
			errors.Is(err, state.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	})
}

func openS3(t *testing.T) (*state.S3, *fakes3.Server) {
	t.Helper()
	fake := fakes3.Start(t)
	s, err := state.OpenS3(t.Context(), "s3://memory/p", state.Writing)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), "k", []byte("old")); err != nil {
		t.Fatal(err)
	}
	return s, fake
}

// A fault is an error, never a wrong document, and the next call works again.
func TestS3Faults(t *testing.T) {
	for name, f := range map[string]fakes3.Fault{
		"busy": {Status: 503}, "too many": {Status: 429}, "broken": {Status: 500}, "denied": {Status: 403},
		"redirected":           {Status: 301},
		"not found by a proxy": {Status: 404},
		"cut":                  {Cut: true}, "lost": {Lose: true}, "hangs": {Delay: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s, fake := openS3(t)
			s.Patience(300 * time.Millisecond)
			fake.Fail(func(*http.Request) fakes3.Fault { return f })
			began := time.Now()
			raw, err := s.Read(t.Context(), "k")
			list, err2 := s.List(t.Context(), "")
			err3 := s.Update(t.Context(), "k", func([]byte) ([]byte, error) { return []byte("new"), nil })
			if err == nil || err2 == nil || err3 == nil || len(raw)+len(list) > 0 || errors.Is(err, state.ErrNotFound) {
				t.Errorf("got %q, %v, %v, %v, %v", raw, err, list, err2, err3)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
			fake.Fail(nil)
			s.Recover()
			if raw, err := s.Read(t.Context(), "k"); err != nil || string(raw) != "old" {
				t.Errorf("afterwards got %q, %v", raw, err)
			}
		})
	}
}

// When nobody answers, only the first of many calls sends a request.
func TestS3Down(t *testing.T) {
	s, fake := openS3(t)
	fake.Fail(func(*http.Request) fakes3.Fault { return fakes3.Fault{Status: 503} })
	before := fake.Requests()
	for range 100 {
		if _, err := s.Read(t.Context(), "k"); !errors.Is(err, state.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	if n := fake.Requests() - before; n != 1 {
		t.Errorf("%d requests, want one", n)
	}
}

// The client sends a write again if its answer is lost. Then the condition of the write
// fails, and change is called with its own result.
func TestS3LostAnswer(t *testing.T) {
	_, fake := openS3(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "3")
	s, err := state.OpenS3(t.Context(), "s3://memory/p", state.Writing)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	fake.Fail(func(r *http.Request) fakes3.Fault {
		if r.Method == http.MethodPut && lost < 1 {
			lost++
			return fakes3.Fault{Lose: true}
		}
		return fakes3.Fault{}
	})
	var saw []string
	err = s.Update(t.Context(), "k", func(old []byte) ([]byte, error) {
		saw = append(saw, string(old))
		if strings.HasSuffix(string(old), "+mine") {
			return nil, nil
		}
		return append(old, "+mine"...), nil
	})
	raw, err2 := s.Read(t.Context(), "k")
	if err != nil || err2 != nil || string(raw) != "old+mine" || strings.Join(saw, " ") != "old old+mine" {
		t.Errorf("got %q, %v, %v, change saw %q", raw, err, err2, saw)
	}
}

// Discard also leaves a changed document if the bucket ignores the conditions of deletes.
func TestS3InexactDeletes(t *testing.T) {
	fake := fakes3.Start(t)
	fake.Fail(only("DELETE", "", fakes3.Fault{Ignore: true}))
	s, err := state.OpenS3(t.Context(), "s3://memory/p", state.Writing)
	if err != nil || s.Exact() {
		t.Fatalf("exact %t, %v", s.Exact(), err)
	}
	for _, key := range []string{"same", "changed", "changed/more"} {
		if err := s.Write(t.Context(), key, []byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context(), "")
	if err != nil || s.Write(t.Context(), "changed", []byte("2")) != nil {
		t.Fatal(err)
	}
	for _, e := range append(list, list...) { // what is gone is discarded again
		if err := s.Discard(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	if got := keys(t, s, ""); got != "changed:1" {
		t.Errorf("left are %s", got)
	}
}
