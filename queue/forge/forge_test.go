package forge_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/forge"
	"github.com/app-sre/prcheck/queue/peer"
)

// A memory is a transport that calls a server without a network.
type memory struct{ http.Handler }

func (m memory) RoundTrip(req *http.Request) (res *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			res, err = nil, io.ErrUnexpectedEOF
		}
	}()
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, req)
	res = w.Result()
	res.Request = req
	return res, nil
}

const token = "glpat-canary/tok+en_123"

// newForge returns a forge of a repository with one file, its server, and a client with which it is asked.
func newForge(t *testing.T) (*forge.Forge, *gitlabtest.Repository, *gitlabtest.Server) {
	t.Helper()
	s := &gitlabtest.Server{Token: token, Repository: gitlabtest.NewRepository(t, map[string]string{"a": "0\n"})}
	s.Repository.FastForward = true
	client, err := ci.NewMergeQueue(ci.Options{API: "https://gitlab.test/api/v4", Token: ci.Token{Value: token},
		Transport: memory{s}}, gitlabtest.ProjectPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, wrong := range s.Wrong() {
			t.Error(wrong)
		}
	})
	return &forge.Forge{Client: client, Target: "main"}, s.Repository, s
}

// open opens a merge request that changes one file.
func open(t *testing.T, r *gitlabtest.Repository, name string, labels ...string) int {
	t.Helper()
	if _, err := r.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: name, Message: name,
		Files: map[string]string{name: "1\n"}}); err != nil {
		t.Fatal(err)
	}
	return r.Open(t, gitlabtest.MergeRequest{Title: "change " + name, Source: name, Target: "main", By: gitlabtest.Jane,
		Labels: labels})
}

func TestRead(t *testing.T) {
	f, r, s := newForge(t)
	first := open(t, r, "one", "lgtm")
	second := open(t, r, "two")
	if err := r.Label(first, gitlabtest.Jane, []string{"bot/hold"}, nil); err != nil {
		t.Fatal(err)
	}
	v, err := f.Read(t.Context())
	if err != nil || v.Base != r.Head("main") || v.Refusal() != "" || len(v.Requests) != 2 {
		t.Fatalf("got %+v, %v", v, err)
	}
	got := v.Requests[0]
	if got.Number != first || got.Head != r.Head("one") || !slices.Equal(got.Labels, []string{"bot/hold", "lgtm"}) ||
		len(got.Events) != 2 || got.Events[0].Label != "lgtm" || got.Events[0].By != "jane" || got.Events[0].At.IsZero() {
		t.Errorf("got %+v", got)
	}
	if v.Requests[1].Number != second || v.Requests[1].Events != nil {
		t.Errorf("got %+v", v.Requests[1])
	}
	if n := len(s.Requests()); n != 5 {
		t.Errorf("a round asks %d times, want 5: %q", n, s.Requests())
	}
	line := queue.Line(v.Requests, nil, time.Now())
	if line[0].Waits.Why != queue.HeldByLabel || line[1].Waits.Why != queue.NotApproved {
		t.Errorf("got %+v", line)
	}
}

// A branch that moves while it is read gives one view of it, or an error.
func TestReadWhileItMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, r, s := newForge(t)
		open(t, r, "one", "lgtm")
		moves := 1
		s.Fault = func(_ int, q *http.Request) gitlabtest.Fault {
			if moves > 0 && strings.HasSuffix(q.URL.Path, "/resource_label_events") {
				moves--
				if _, err := r.Commit(gitlabtest.Change{By: gitlabtest.Jane, Branch: "main", Message: "by hand",
					Files: map[string]string{"b": time.Now().String() + strings.Repeat("x", moves)}}); err != nil {
					t.Error(err)
				}
			}
			return gitlabtest.Fault{}
		}
		v, err := f.Read(t.Context())
		if err != nil || v.Base != r.Head("main") {
			t.Fatalf("got %+v, %v", v, err)
		}
		moves = 100
		if _, err := f.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "moved while") {
			t.Errorf("got %v", err)
		}
	})
}

// Where the queue cannot act it says why.
func TestRefusal(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*gitlabtest.Repository)
		want string
	}{
		"fast-forward":  {func(*gitlabtest.Repository) {}, ""},
		"trains":        {func(r *gitlabtest.Repository) { r.Trains = true }, "merge trains are on"},
		"merge commits": {func(r *gitlabtest.Repository) { r.FastForward = false }, "merge commits"},
	} {
		f, r, _ := newForge(t)
		c.set(r)
		v, err := f.Read(t.Context())
		if err != nil || !strings.Contains(v.Refusal(), c.want) || (c.want == "") != (v.Refusal() == "") {
			t.Errorf("%s: %q, %v", name, v.Refusal(), err)
		}
	}
}

// The comparison names what the peer merges and the queue does not, and why.
func TestCompare(t *testing.T) {
	f, r, _ := newForge(t)
	r.Pipelines = true
	number := open(t, r, "one", "lgtm")
	r.EndPipeline(r.Head("one"), "success")
	held := open(t, r, "two", "lgtm", "bot/hold")
	v, err := f.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := peer.Defaults()
	o.Rebase = true
	s, err := f.Peer(t.Context(), v, o, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	none := func(string, queue.Request) queue.Proof { return queue.Proof{} }
	outcome := queue.Walk(v.Base, queue.Line(v.Requests, nil, time.Now()), none, queue.Policy{})
	got := peer.Compare(s, outcome)
	if b := got[number]; b.Position != 1 || !slices.Equal(b.Does, []string{"merge"}) ||
		b.Differs != "it would merge it; here: not proven: nobody looked" {
		t.Errorf("got %+v", b)
	}
	if b, isThere := got[held]; isThere {
		t.Errorf("both do nothing about !%d, and it is told: %+v", held, b)
	}
}

// A server that answers nonsense, or not at all, is an error that does not have the token.
func TestBadAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, fault := range map[string]gitlabtest.Fault{
			"no JSON":   {Status: 200, Body: "<html>" + token},
			"a number":  {Status: 200, Body: "7"},
			"forbidden": {Status: 403, Body: `{"message":"` + token + `"}`},
			"broken":    {Status: 500, Body: token},
			"dropped":   {Drop: true},
			"cut":       {Cut: true},
		} {
			for _, part := range []string{"/branches/main", "/merge_requests", "/resource_label_events", "group%2Fproject"} {
				f, r, s := newForge(t)
				open(t, r, "one", "lgtm")
				s.Fault = func(_ int, q *http.Request) gitlabtest.Fault {
					if strings.HasSuffix(q.URL.EscapedPath(), part) {
						return fault
					}
					return gitlabtest.Fault{}
				}
				v, err := f.Read(t.Context())
				if err == nil || strings.Contains(err.Error(), token) {
					t.Errorf("%s for %s: %+v, %v", name, part, v, err)
				}
				var refused *ci.RefusedError
				if fault.Status == 403 && !errors.As(err, &refused) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}
