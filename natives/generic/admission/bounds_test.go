package admission_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/natives/generic/admission"
)

const good = `{"location": "w", "properties": {"size": 1}}`

// large returns a good body that is no small one.
func large() string {
	return `{"location": "w", "tags": {"a": "` + strings.Repeat("x", admission.SmallBody) + `"}}`
}

// Small reviews are judged while all places of large ones are taken. A large one is refused when
// its time is over.
func TestLargeReviewsStarveNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := admission.NewHandler(known(t), admission.Options{})
		h.Occupy()
		begin := time.Now()
		if _, got := post(t, h, question("CREATE", "", spec(good))); !got.Response.Allowed || time.Since(begin) > 0 {
			t.Errorf("a small review: got %+v after %v", got.Response, time.Since(begin))
		}
		w, got := post(t, h, question("CREATE", "", spec(large())))
		if r := got.Response; r.Allowed || r.UID != "u" || r.Status.Code != http.StatusTooManyRequests ||
			!strings.Contains(r.Status.Message, "try again") {
			t.Errorf("a large review: got %s", w.Body)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("a large review is answered after %v", took)
		}
	})
}

// A large review that has a place is judged.
func TestLargeReview(t *testing.T) {
	h := admission.NewHandler(known(t), admission.Options{Budget: time.Hour})
	if _, got := post(t, h, question("CREATE", "", spec(large()))); !got.Response.Allowed {
		t.Errorf("got %+v", got)
	}
}

// What there is no time for is refused: a small budget never lets in what a large one refuses.
func TestNoTimeRefuses(t *testing.T) {
	names, reviews := wideReviews(2000)
	patient := admission.NewHandler(known(t), admission.Options{Budget: time.Hour})
	for _, budget := range []time.Duration{time.Nanosecond, 300 * time.Microsecond, 2 * time.Millisecond} {
		hasty := admission.NewHandler(known(t), admission.Options{Budget: budget})
		for _, name := range names {
			_, want := post(t, patient, reviews[name])
			w, got := post(t, hasty, reviews[name])
			if w.Code != http.StatusOK || got.Response.Allowed && !want.Response.Allowed {
				t.Errorf("%s in %v: got %s", name, budget, w.Body)
			}
		}
	}
}

// A slow is a body that ends before its time, as that of a slow client.
type slow struct{ begin io.Reader }

func (s slow) Read(p []byte) (int, error) {
	n, err := s.begin.Read(p)
	if errors.Is(err, io.EOF) {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// A timed is a recorder that has deadlines.
type timed struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (t *timed) SetReadDeadline(until time.Time) error {
	t.until = append(t.until, until)
	return nil
}

// A client that is slow is given up. If it said which review it is, that is refused.
func TestSlowClients(t *testing.T) {
	h := admission.NewHandler(known(t), admission.Options{})
	whole := question("CREATE", "", spec(large()))
	for _, c := range []struct {
		name string
		read int
		want int
	}{{"nothing", 0, http.StatusServiceUnavailable}, {"half of the name", 60, http.StatusServiceUnavailable},
		{"the beginning", 300, http.StatusOK}, {"nearly all", len(whole) - 1, http.StatusOK}} {
		r := httptest.NewRequest(http.MethodPost, "/validate", slow{bytes.NewReader(whole[:c.read])})
		r.Header.Set("Content-Type", "application/json")
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if w.Code != c.want || strings.Contains(w.Body.String(), `"allowed":true`) ||
			strings.Count(w.Body.String(), "\n") > 1 {
			t.Errorf("%s: got %d %s", c.name, w.Code, w.Body)
		}
		if n := len(w.until); n < 2 || w.until[0].IsZero() || !w.until[n-1].IsZero() {
			t.Errorf("%s: the deadlines are %v", c.name, w.until)
		}
	}
}

// Broken and odd reviews are answered in one line, and let nothing in.
func TestOddReviews(t *testing.T) {
	h := admission.NewHandler(known(t), admission.Options{Budget: time.Hour})
	many := func(field string) string {
		return `"` + field + `": [` + repeat(1001, func(i int) string { return fmt.Sprintf(`"/p%d"`, i) }) + `]`
	}
	for _, c := range []struct {
		name, spec string
		code       int
		in         string
	}{
		{"10,000 levels", spec(strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)), 400,
			"exceeded max depth"},
		{"9,000 levels", spec(strings.Repeat(`[`, 9000) + strings.Repeat("]", 9000)), 200, "nested too deeply"},
		{"a name of 1 MB", spec(`{"location": "w", "` + strings.Repeat("n", 1<<20) + `": 1}`), 200, "no such property"},
		{"a name of 1 MB with much inside",
			spec(`{"location": "w", "tags": {"` + strings.Repeat("n", 1<<20) + `": {` +
				repeat(1000, func(i int) string { return fmt.Sprintf(`"a%d": 1`, i) }) + `}}}`), 200,
			"what is inside is not checked"},
		{"a type of 1 MB", `{"type": "` + strings.Repeat("A", 1<<20) + `", "name": "n", "body": {}}`, 200, "spec.type"},
		{"a number of 1 MB", spec(`{"location": "w", "properties": {"size": 0.` + strings.Repeat("7", 1<<20) + `}}`), 200,
			"must be a whole number"},
		{"a name twice", spec(`{"location": "w", "location": "w"}`), 200, "stands twice"},
		{"a name twice by an escape", spec(`{"location": "w", "\u006cocation": "w"}`), 200, "stands twice"},
		{"two bodies", strings.Replace(spec(good), `"body"`, `"body": {"bad": 1}, "Body"`, 1), 200, "spec.body.bad"},
		{"invalid UTF-8", spec("{\"location\": \"w\xff\"}"), 200, "not valid UTF-8"},
		{"too many places to ignore", spec(good, many("ignore")), 200, "spec.ignore"},
		{"too many places to allow", spec(good, many("allowUpdate")), 200, "spec.allowUpdate"},
	} {
		w, got := post(t, h, question("CREATE", "", c.spec))
		text := w.Body.String()
		if w.Code != c.code || got.Response.Allowed || strings.Count(text, "\n") != 1 || !strings.Contains(text, c.in) ||
			len(text) > 64<<10 {
			t.Errorf("%s: got %d with %d bytes: %.300s", c.name, w.Code, len(text), text)
		}
	}
}

func TestCompressedReview(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader("\x1f\x8b"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	w := httptest.NewRecorder()
	admission.NewHandler(known(t), admission.Options{}).ServeHTTP(w, r)
	if got := w.Body.String(); w.Code != http.StatusUnsupportedMediaType || got != "the review must not be compressed\n" {
		t.Errorf("got %d %s", w.Code, got)
	}
}

// All of 1,000 connections are answered: reviews are judged, or there was no time.
func TestManyConnections(t *testing.T) {
	server := httptest.NewServer(admission.NewHandler(known(t), admission.Options{}))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	raw := question("CREATE", "", spec(good))
	var running sync.WaitGroup
	for range 1000 {
		running.Go(func() {
			res, err := client.Post(server.URL+"/validate", "application/json", bytes.NewReader(raw)) //nolint:noctx // of the test
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(text), `"allowed":true`) && !strings.Contains(string(text), "try again") {
				t.Errorf("got %d %s, %v", res.StatusCode, text, err)
			}
		})
	}
	running.Wait()
}

// A member is cut from a text as encoding/json reads it, and the rest says the same.
func FuzzCutMember(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":1}`, ` { "a" : [1,{"a":"}"}] , "b":"\"" } `,
		`{"b":{"a":2},"a":null,"a":-1.5e3}`, `[{"a":1}]`, `"a"`, `1`, `{"\u0061":{"x":[]}}`, `{"a\\":1,"a":true}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		value, rest := admission.CutMember(raw, "a")
		var want, left map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil {
			if value != nil || !bytes.Equal(rest, raw) {
				t.Errorf("%q: got %q, %q", raw, value, rest)
			}
			return
		}
		if !bytes.Equal(value, want["a"]) {
			t.Errorf("%q: got %q, want %q", raw, value, want["a"])
		}
		if err := json.Unmarshal(rest, &left); err != nil || len(left) != len(want) ||
			value != nil && string(left["a"]) != "null" {
			t.Errorf("%q: the rest is %q, %v", raw, rest, err)
		}
	})
}
