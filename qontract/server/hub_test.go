package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/qontract/server/metrics"
)

func parse(t testing.TB, raw []byte) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// people returns bundles that differ in the name of their user.
func people(t testing.TB, names ...string) []*bundle.Bundle {
	t.Helper()
	var out []*bundle.Bundle
	for _, name := range names {
		out = append(out, parse(t, snapshot(name, nil)))
	}
	return out
}

// request sends a request to a handler without a network.
func request(t testing.TB, h http.Handler, method, path string, header http.Header,
	body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if header != nil {
		r.Header = header
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func inJSONHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

func askUsers(t testing.TB, h http.Handler, path string) string {
	t.Helper()
	return request(t, h, http.MethodPost, path, inJSONHeader(), `{"query":"{ users { name } }"}`).Body.String()
}

// loads are the results of HubOptions.Load, one per reload.
type loads struct {
	mu   sync.Mutex
	next []func() (*bundle.Bundle, error)
}

func (l *loads) load(context.Context) (*bundle.Bundle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.next[0]
	l.next = l.next[1:]
	return f()
}

func (l *loads) then(b *bundle.Bundle, err error) {
	l.next = append(l.next, func() (*bundle.Bundle, error) { return b, err })
}

func reload(t testing.TB, h http.Handler) (int, string) {
	t.Helper()
	w := request(t, h, http.MethodPost, "/reload", nil, "")
	return w.Code, w.Body.String()
}

// The bundle that was added or reloaded last is the latest, also if the hub had it before.
func TestReload(t *testing.T) {
	b := people(t, "ana", "bob", "cy")
	var source loads
	h := server.NewHub(server.HubOptions{Load: source.load})
	for _, add := range b[:2] {
		if err := h.Add(add); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		brings *bundle.Bundle
		latest string
	}{{b[2], "cy"}, {b[2], "cy"}, {b[0], "ana"}, {b[1], "bob"}} {
		source.then(step.brings, nil)
		if code, body := reload(t, h); code != 200 || body != "" {
			t.Errorf("reload: got %d %q", code, body)
		}
		if got := askUsers(t, h, "/graphql"); got != users(step.latest) {
			t.Errorf("got %s, want %s", got, users(step.latest))
		}
		if got := request(t, h, http.MethodGet, "/sha256", nil, "").Body.String(); got != step.brings.SHA256() {
			t.Errorf("got %s, want %s", got, step.brings.SHA256())
		}
	}
	for i, name := range []string{"ana", "bob", "cy"} {
		if got := askUsers(t, h, "/graphqlsha/"+b[i].SHA256()); got != users(name) {
			t.Errorf("got %s, want %s", got, users(name))
		}
	}
}

// A failed reload changes nothing, and its status says how it failed.
func TestReloadFails(t *testing.T) {
	good := people(t, "ana")[0]
	bad := parse(t, snapshot("bob", object{"graphql": object{"confs": []any{
		object{"name": "Query", "fields": []any{field("x", "Nowhere", nil)}}}}}))
	var source loads
	var said []string
	h := server.NewHub(server.HubOptions{Load: source.load, Log: func(line string) { said = append(said, line) }})
	if err := h.Add(good); err != nil {
		t.Fatal(err)
	}
	before := request(t, h, http.MethodGet, "/cache", nil, "").Body.String()
	source.then(nil, errors.New("no such file"))
	if code, body := reload(t, h); code != 503 || body != "error parsing bundle, not replacing" {
		t.Errorf("no bundle: got %d %q", code, body)
	}
	for range 2 { // the second attempt fails in the same way
		source.then(bad, nil)
		if code, body := reload(t, h); code != 500 || body != errorPage("Internal Server Error") {
			t.Errorf("bad types: got %d %q", code, body)
		}
	}
	if got := request(t, h, http.MethodGet, "/cache", nil, "").Body.String(); got != before {
		t.Errorf("got %s, want %s", got, before)
	}
	if w := request(t, h, http.MethodGet, "/diff/"+good.SHA256()+"/"+bad.SHA256(), nil, ""); w.Code != 404 {
		t.Errorf("the bad bundle can be compared: %d", w.Code)
	}
	if len(said) != 3 || said[0] != "reload: no such file" {
		t.Errorf("said %q", said)
	}
	if err := h.Add(bad); err == nil {
		t.Error("added a bundle with bad types")
	}
}

func TestNothingToReload(t *testing.T) {
	h := server.NewHub(server.HubOptions{})
	if code, _ := reload(t, h); code != 503 {
		t.Errorf("got %d, want 503", code)
	}
	if w := request(t, h, http.MethodGet, "/sha256", nil, ""); w.Code != 503 || w.Body.String() != "No loaded data." {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if w := request(t, h, http.MethodPost, "/graphql", inJSONHeader(), "{}"); w.Code != 404 {
		t.Errorf("got %d, want 404", w.Code)
	}
}

// A bundle that is not the latest expires after its TTL without a request. It is dropped
// when the next bundle is added.
func TestExpiry(t *testing.T) {
	b := people(t, "ana", "bob", "cy", "dan")
	synctest.Test(t, func(t *testing.T) {
		h := server.NewHub(server.HubOptions{TTL: time.Minute})
		add := func(i int) {
			if err := h.Add(b[i]); err != nil {
				t.Fatal(err)
			}
		}
		has := func(want ...string) {
			t.Helper()
			var got []string
			for i, name := range []string{"ana", "bob", "cy", "dan"} {
				if request(t, h, http.MethodGet, "/git-commit-info/"+b[i].SHA256(), nil, "").Code == 200 {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		add(0)
		add(1)
		time.Sleep(50 * time.Second)
		askUsers(t, h, "/graphqlsha/"+b[0].SHA256())
		request(t, h, http.MethodGet, "/diff/"+b[1].SHA256()+"/"+b[0].SHA256(), nil, "") // does not extend the expiry
		time.Sleep(20 * time.Second)
		add(2)
		has("ana", "bob", "cy") // bob was the latest until now
		time.Sleep(50 * time.Second)
		has("ana", "bob", "cy")
		add(3)
		has("cy", "dan")
		time.Sleep(time.Hour)
		has("cy", "dan")
		add(3)
		has("dan")
	})
}

// A hub never has more bundles than its limit. It drops those that would expire first.
func TestTooManyBundles(t *testing.T) {
	b := people(t, "ana", "bob", "cy")
	var said []string
	h := server.NewHub(server.HubOptions{Limits: server.Limits{Bundles: 2}, Log: func(line string) {
		said = append(said, line)
	}})
	for _, add := range b {
		if err := h.Add(add); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{404, 200, 200} {
		if w := request(t, h, http.MethodGet, "/git-commit-info/"+b[i].SHA256(), nil, ""); w.Code != want {
			t.Errorf("bundle %d: got %d, want %d", i, w.Code, want)
		}
	}
	if want := []string{"forgetting bundle " + b[0].SHA256() + " before its time: there are too many"}; !slices.Equal(said,
		want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

func TestCache(t *testing.T) {
	b := people(t, "ana", "bob")
	synctest.Test(t, func(t *testing.T) {
		h := server.NewHub(server.HubOptions{TTL: time.Minute})
		for _, add := range b {
			if err := h.Add(add); err != nil {
				t.Fatal(err)
			}
		}
		w := request(t, h, http.MethodGet, "/cache", nil, "")
		end := time.Now().Add(time.Minute).UnixMilli()
		want := fmt.Sprintf(
			`{"bundleCache":[{"sha":%[1]q,"expiration":%[3]d},{"sha":%[2]q,"expiration":%[3]d}],"bundles":[%[1]q,%[2]q],`+
				`"routerStack":2,"searchableFields":[%[1]q,%[2]q]}`, b[0].SHA256(), b[1].SHA256(), end)
		if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != page {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	empty := server.NewHub(server.HubOptions{})
	const none = `{"bundleCache":[],"bundles":[],"routerStack":0,"searchableFields":[]}`
	if got := request(t, empty, http.MethodGet, "/cache", nil, "").Body.String(); got != none {
		t.Errorf("got %s, want %s", got, none)
	}
}

// Observe gets each request once, with all fields that are known.
func TestObserve(t *testing.T) {
	var got []server.Exchange
	h := server.NewHub(server.HubOptions{Observe: func(x server.Exchange) { got = append(got, x) }})
	b := people(t, "ana")[0]
	if err := h.Add(b); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a hub with an observer answers nothing from its cache
		got = nil
		body := askUsers(t, h, "/graphql")
		if len(got) != 1 || got[0].Response == nil || got[0].Query == nil {
			t.Fatalf("got %+v", got)
		}
		x := got[0]
		if x.Path != "/graphql" || x.SHA256 != b.SHA256() || x.Status != 200 || string(x.Body)+"\n" != body ||
			x.Request.Query != "{ users { name } }" {
			t.Errorf("got %+v", x)
		}
		if want := []bundle.Path{"/users/x.yml"}; !slices.Equal(x.Response.Datafiles, want) {
			t.Errorf("read %q, want %q", x.Response.Datafiles, want)
		}
	}
	got = nil
	request(t, h, http.MethodPost, "/graphql", inJSONHeader(), `{"query":"{ nope }"}`)
	request(t, h, http.MethodPost, "/graphql", inJSONHeader(), `[]`)
	request(t, h, http.MethodGet, "/sha256", nil, "")
	request(t, h, http.MethodGet, "/diff/"+b.SHA256()+"/"+b.SHA256(), nil, "")
	request(t, h, http.MethodGet, "/nope", nil, "")
	var seen []string
	for _, x := range got {
		seen = append(seen, fmt.Sprintln(x.Path[:min(len(x.Path), 8)], x.SHA256 == b.SHA256(), x.Request != nil,
			x.Query != nil, x.Response != nil, x.Status, x.Body != nil))
	}
	want := []string{"/graphql true true false false 400 true", "/graphql true false false false 400 true",
		"/sha256 true false false false 200 true",
		"/diff/" + b.SHA256()[:2] + " true false false false 200 false", "/nope false false false false 404 true"}
	if got, want := strings.Join(seen, ""), strings.Join(want, "\n")+"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Serve ends with its context and lets running requests end first.
func TestServe(t *testing.T) {
	release, started := make(chan bool), make(chan bool)
	b := people(t, "ana")[0]
	h := server.NewHub(server.HubOptions{Load: func(context.Context) (*bundle.Bundle, error) {
		close(started)
		<-release
		return b, nil
	}})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l) }()
	url := "http://" + l.Addr().String()
	answered := make(chan answer, 1)
	go func() { answered <- do(t, http.MethodPost, url+"/reload", "", "") }()
	<-started
	stop()
	for { // until the listener is closed
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	close(release)
	if got := <-answered; got.status != 200 {
		t.Errorf("the open request got %v", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestServeBroken(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := server.NewHub(server.HubOptions{}).Serve(t.Context(), l); err == nil {
		t.Error("served at a closed listener")
	}
}

// A hub answers requests while it reloads.
func TestHubConcurrency(t *testing.T) {
	b := people(t, "ana", "bob", "cy")
	var at int
	h := server.NewHub(server.HubOptions{Load: func(context.Context) (*bundle.Bundle, error) {
		at++ // one reload at a time
		return b[at%3], nil
	}, Limits: server.Limits{Evaluations: 2, Bundles: 2}, Metrics: metrics.New()})
	if err := h.Add(b[0]); err != nil {
		t.Fatal(err)
	}
	good := []string{users("ana"), users("bob"), users("cy")}
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			if i%5 == 0 {
				reload(t, h)
				request(t, h, http.MethodGet, "/metrics", nil, "")
				return
			}
			if got := askUsers(t, h, "/graphql"); !slices.Contains(good, got) {
				t.Errorf("got %s", got)
			}
		})
	}
	all.Wait()
	var cache struct{ Bundles []string }
	if err := json.Unmarshal(request(t, h, http.MethodGet, "/cache", nil, "").Body.Bytes(), &cache); err != nil ||
		len(cache.Bundles) != 2 {
		t.Errorf("got %q, %v", cache.Bundles, err)
	}
}

// The exchange of a canceled request is marked as aborted.
func TestObserveAborted(t *testing.T) {
	var got []server.Exchange
	h := server.NewHub(server.HubOptions{Observe: func(x server.Exchange) { got = append(got, x) }})
	if err := h.Add(people(t, "ana")[0]); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, want := range []bool{false, true} {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql",
			strings.NewReader(`{"query":"{ users { name } }"}`))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
		if x := got[len(got)-1]; x.Request == nil || x.Aborted != want && x.Status < 500 {
			t.Errorf("got %+v, want cut: %v", x, want)
		}
		leave()
	}
}
