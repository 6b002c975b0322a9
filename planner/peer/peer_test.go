package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/trace"
)

// A server that answers as we do confirms all skips, by four whole answers and four elements.
func TestSame(t *testing.T) {
	w := newWorld(t)
	got := w.ask(t, w.hub.ServeHTTP)
	if got.Numbers() != "8 asked, 8 same, 0 different, 0 not asked" || w.requests != 8 || w.secrets != 8 {
		t.Errorf("got %s by %d requests, %+v", got.Numbers(), w.requests, got)
	}
	checkReport(t, got.Judge(report()), "both mails other", "", "")
	got = w.ask(t, w.changed(w.head, `"code":"INTERNAL_SERVER_ERROR"`,
		`"code":"INTERNAL_SERVER_ERROR","stacktrace":["Error: no"]`))
	if got.Same != 8 {
		t.Errorf("with stack traces: got %+v", got)
	}
}

// A planted wrong answer is found, with its place, and refutes what rests on it. Its values are not told.
func TestDifferent(t *testing.T) {
	const allRest = "both mails"
	for _, c := range []struct {
		name, from, to string
		sentence       string
		different      int
		refuted        string
	}{
		{"a text", `"new"`, `"hunter2"`,
			"emails.graphql on head otherwise, at data.users[0].email: both have a text, not the same", 1, allRest},
		{"a kind", `"new"`, `null`,
			"emails.graphql on head otherwise, at data.users[0].email: prcheck has a text, the server null", 1, allRest},
		{"an item less", `["x","y"]`, `["x"]`,
			"emails.graphql on head otherwise, at data.users[0].tags: prcheck has 2 items, the server 1", 1, allRest},
		{"an item in between", `["x","y"]`, `["x","z","y"]`,
			"emails.graphql on head otherwise, at data.users[0].tags[1]: prcheck has 2 items, the server 3", 1, allRest},
		{"a key less", `"email":"new",`, ``,
			"emails.graphql on head otherwise, at data.users[0].email: the server leaves it out", 1, allRest},
		{"the last key less", `,"tags":["x","y"]`, ``,
			"emails.graphql on head otherwise, at data.users[0].tags: the server leaves it out", 1, allRest},
		{"a key more", `"email":"new",`, `"email":"new","hunter":2,`,
			"emails.graphql on head otherwise, at data.users[0].hunter: only the server has it", 1, allRest},
		{"a last key more", `["x","y"]}`, `["x","y"],"z":1}`,
			"emails.graphql on head otherwise, at data.users[0].z: only the server has it", 1, allRest},
		{"an order of keys", `"email":"new","tags":["x","y"]`, `"tags":["x","y"],"email":"new"`,
			"emails.graphql on head otherwise, at data.users[0]: the keys have another order", 1, allRest},
		{"a way of writing", `"new"`, `"n\u0065w"`,
			"emails.graphql on head otherwise, at the body: the server writes the same values in another way", 1, allRest},
		{"a blank", `"new"`, ` "new"`,
			"emails.graphql on head otherwise, at the body: the server writes the same values in another way", 1, allRest},
		{"no data", `{"email":"new","tags":["x","y"]},{"email":"b","tags":null}`, ``,
			"emails.graphql on head otherwise, at data.users: prcheck has 2 items, the server 0", 1, allRest},
		{"data of another kind", `{"users":[{"email":"new","tags":["x","y"]},{"email":"b","tags":null}]}`, `null`,
			"emails.graphql on head otherwise, at data: prcheck has an object, the server null", 1, allRest},
		{"a schema", `["/user-1.yml"]`, `[]`,
			"emails.graphql on head otherwise, at extensions.schemas: prcheck has 1 items, the server 0", 4, allRest},
		{"the error of an element", `"path":["users",0,`, `"path":["users",1,`,
			"names.graphql for /bob.yml on head otherwise, at errors[0].path[1]: both have a number, not the same", 1, "both"},
		{"an element", `{"name":"ana"}`, `{"name":"bea"}`,
			"names.graphql for /ana.yml on head otherwise, at data.users[0].name: both have a text, not the same", 1, "both"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			got := w.ask(t, w.changed(w.head, c.from, c.to))
			if got.Asked != 8 || got.Different != c.different || got.Same != 8-c.different ||
				len(got.Differences) != c.different {
				t.Fatalf("got %s", got.Numbers())
			}
			if s := got.Differences[0].Sentence(); s != "the server answers "+c.sentence {
				t.Errorf("got %s, want %s", s, c.sentence)
			}
			r := got.Judge(report())
			checkReport(t, r, strings.TrimSpace(strings.ReplaceAll("both mails other", c.refuted, "")), "", c.refuted)
			if !strings.Contains(r.Refuted[0].Why, c.sentence) {
				t.Errorf("got %+v", r.Refuted)
			}
		})
	}
}

// A status is a part of an answer.
func TestDifferentStatus(t *testing.T) {
	w := newWorld(t)
	got := w.ask(t, w.only("name", func(rw http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		w.hub.ServeHTTP(rec, r)
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = rw.Write(rec.Body.Bytes())
	}))
	if got.Numbers() != "8 asked, 2 same, 6 different, 0 not asked" || got.Differences[0].Place != "the status" ||
		got.Differences[0].Says != "prcheck has 200, the server 400" {
		t.Errorf("got %s, %+v", got.Numbers(), got)
	}
}

// Of many differences and reasons all are counted, and a few are kept.
func TestBounds(t *testing.T) {
	a := &Answers{}
	for i := range 100 {
		q := proof.Question{Integrations: []string{fmt.Sprint(i)}}
		a.differ(Difference{Integrations: q.Integrations})
		a.silent(q, trace.Base, fmt.Sprint(i))
	}
	if a.Different != 100 || len(a.Differences) != maxShown || len(a.refuted) != 100 {
		t.Errorf("got %d differences and %d refuted, %d shown", a.Different, len(a.refuted), len(a.Differences))
	}
	if last := a.Silences[len(a.Silences)-1]; a.NotAsked != 100 || len(a.Silences) != maxShown+1 ||
		last.Questions != 100-maxShown {
		t.Errorf("got %d silences, at last %+v", len(a.Silences), last)
	}
	b := merge("s", a, a)
	if b.Different != 200 || len(b.Differences) != maxShown {
		t.Errorf("got %d differences, %d shown", b.Different, len(b.Differences))
	}
}

// What is no answer is not asked: nothing that rests on it is proven, and the server is not
// asked for ever.
func TestNotAsked(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for _, c := range []struct {
		name     string
		handler  func(w *world) http.HandlerFunc
		numbers  string
		requests int
		silences []Silence // how the reasons begin
		believed string
	}{
		{"no bundle", func(w *world) http.HandlerFunc {
			return func(rw http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, w.head.SHA256()) {
					http.Error(rw, "<pre>Cannot POST "+r.URL.Path+"</pre>", http.StatusNotFound)
					return
				}
				w.hub.ServeHTTP(rw, r)
			}
		}, "4 asked, 4 same, 0 different, 4 not asked", 5, []Silence{{trace.Head, "URL does not have bundle ", 4}},
			"both mails"},
		{"a page", func(*world) http.HandlerFunc {
			return func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "<html>hello</html>") }
		}, "0 asked, 0 same, 0 different, 8 not asked", 6, []Silence{
			{trace.Base, "asking URL/graphqlsha/", 3}, {trace.Base, "the server gave no answer 3 times in a row", 1},
			{trace.Head, "asking URL/graphqlsha/", 3}, {trace.Head, "the server gave no answer 3 times in a row", 1},
		}, "both mails"},
		{"an endless body", func(w *world) http.HandlerFunc {
			return w.only("email", func(rw http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					if _, err := rw.Write(make([]byte, 1<<20)); err != nil {
						return
					}
				}
			})
		}, "6 asked, 6 same, 0 different, 2 not asked", 8, []Silence{{trace.Base, "asking URL/graphqlsha/", 1},
			{trace.Head, "asking URL/graphqlsha/", 1}}, "both mails"},
		{"a redirect to another host", func(w *world) http.HandlerFunc {
			return w.only("name", func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
			})
		}, "2 asked, 2 same, 0 different, 6 not asked", 8, []Silence{{trace.Base, "asking URL/graphqlsha/", 3},
			{trace.Head, "asking URL/graphqlsha/", 3}}, "both"},
		{"too large queries", func(*world) http.HandlerFunc {
			return func(rw http.ResponseWriter, _ *http.Request) {
				http.Error(rw, "request entity too large", http.StatusRequestEntityTooLarge)
			}
		}, "0 asked, 0 same, 0 different, 8 not asked", 8, []Silence{{trace.Base, "asking URL/graphqlsha/", 4},
			{trace.Head, "asking URL/graphqlsha/", 4}}, "both mails"},
		{"no entry", func(*world) http.HandlerFunc {
			return func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "who are you", http.StatusUnauthorized) }
		}, "0 asked, 0 same, 0 different, 8 not asked", 6, []Silence{
			{trace.Base, "asking URL/graphqlsha/", 3}, {trace.Base, "the server gave no answer 3 times in a row", 1},
			{trace.Head, "asking URL/graphqlsha/", 3}, {trace.Head, "the server gave no answer 3 times in a row", 1},
		}, "both mails"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			got := w.ask(t, c.handler(w))
			if got.Numbers() != c.numbers || w.requests != c.requests {
				t.Errorf("got %s by %d requests, want %s by %d", got.Numbers(), w.requests, c.numbers, c.requests)
			}
			isAsSaid := len(got.Silences) == len(c.silences)
			for i := range min(len(got.Silences), len(c.silences)) {
				s, want := got.Silences[i], c.silences[i]
				isAsSaid = isAsSaid && s.Side == want.Side && s.Questions == want.Questions &&
					strings.HasPrefix(s.Why, strings.ReplaceAll(want.Why, "URL", got.Server))
			}
			if !isAsSaid {
				t.Errorf("got %+v, want %+v", got.Silences, c.silences)
			}
			r := got.Judge(report())
			checkReport(t, r, strings.TrimSpace(strings.ReplaceAll("both mails other", c.believed, "")), c.believed, "")
			if names := strings.Join(r.Assumed["answers"], " "); names != c.believed {
				t.Errorf("assumed: got %q, want %q", names, c.believed)
			}
		})
	}
	if elsewhere > 0 {
		t.Errorf("another host was asked %d times", elsewhere)
	}
}

// Three times in a row means without an answer in between.
func TestInARow(t *testing.T) {
	w := newWorld(t)
	n := 0
	got := w.ask(t, func(rw http.ResponseWriter, r *http.Request) {
		isHead := strings.HasSuffix(r.URL.Path, w.head.SHA256())
		if isHead {
			n++ // the requests of a side come one after the other
		}
		if isHead && n != 3 {
			_, _ = io.WriteString(rw, "no")
			return
		}
		w.hub.ServeHTTP(rw, r)
	})
	if got.Numbers() != "5 asked, 5 same, 0 different, 3 not asked" || w.requests != 8 {
		t.Errorf("got %s by %d requests", got.Numbers(), w.requests)
	}
}

// hanging never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that does not answer is waited for three times on each side, at once.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, err := live.ParseHost("http://s.example", live.Connection{Transport: hanging{}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got, err := Ask(t.Context(), Input{Server: at, Base: users(t, "old"), Head: users(t, "new"), Questions: asked()})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); got.NotAsked != 8 || took != maxInARow*patience ||
			got.Silences[0].Why != "there was no answer within 2m0s" {
			t.Errorf("got %+v after %s", got, took)
		}
	})
}

// Who ends a question gets no numbers.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the client is not seen
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	at, err := live.ParseHost(s.URL, live.Connection{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Ask(ctx, Input{Server: at, Base: users(t, "old"), Head: users(t, "new"),
		Questions: asked()}); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// Each request counts as progress, and answers of both sides are not told at once.
func TestProgress(t *testing.T) {
	w := newWorld(t)
	s := httptest.NewServer(http.HandlerFunc(w.hub.ServeHTTP))
	defer s.Close()
	at, err := live.ParseHost(s.URL, live.Connection{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []int
	if _, err := Ask(t.Context(), Input{Server: at, Base: w.base, Head: w.head, Questions: asked(), Progress: func(n int) {
		seen = append(seen, n)
	}}); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8}; !reflect.DeepEqual(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

// A judgement touches nothing but what rests on answers.
func TestJudge(t *testing.T) {
	a := merge("s", &Answers{unanswered: map[string]bool{"a": true, "b": true, "d": true, "z": true}},
		&Answers{refuted: map[string]Difference{"b": {}, "e": {}}})
	r := a.Judge(proof.Report{
		Proven: []string{"a", "b", "c"}, Believed: []string{"d", "e", "f"}, Refuted: []proof.Gap{{Integration: "z"}},
		Assumed: map[plan.Assumption][]string{plan.AssumedOrder: {"d", "e"}},
	})
	checkReport(t, r, "c", "a d f", "z b e")
	want := map[plan.Assumption][]string{plan.AssumedOrder: {"d"}, plan.AssumedAnswers: {"a", "d"}}
	if !reflect.DeepEqual(r.Assumed, want) {
		t.Errorf("got %v, want %v", r.Assumed, want)
	}
}
