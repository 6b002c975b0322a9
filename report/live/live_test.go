package live_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/live"
	"github.com/app-sre/prcheck/wrapper"
)

// newPlan returns a plan of some tasks.
func newPlan(tasks int) *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Digest: "sha256:1",
		Changes: plan.Changes{Datafiles: []plan.Datafile{{Path: "/a.yml", Schema: "/a-1.yml", Kind: plan.Modified,
			Fields: []string{"/x"}}}}}
	for i := range tasks {
		name := fmt.Sprintf("task-%03d", i)
		p.Tasks = append(p.Tasks, plan.Task{ID: name, Integration: name, Argv: []string{"true"}})
		p.Integrations = append(p.Integrations, plan.Decision{Name: name, Decision: plan.Run, Rung: plan.RungSchema,
			Reason: "it may read what changed", Tasks: []string{name}, Evidence: plan.Evidence{Paths: []string{"/a.yml"}}})
	}
	return p
}

// options returns options that show a plan as the report does.
func options(p *plan.Plan) live.Options {
	page := func(results *plan.Results) report.Page {
		partial := report.Partial(p, results)
		return report.Page{Plan: partial, Report: report.New(partial, results)}
	}
	return live.Options{Plan: p,
		Render: func(w io.Writer, results *plan.Results, running *report.Running) error {
			shown := page(results)
			shown.Running = running
			return report.HTML(w, shown)
		},
		Rows: func(result plan.Result, after int) ([]string, int, error) {
			return report.EffectRows(page(&plan.Results{Plan: p.Digest, Results: []plan.Result{result}}), after)
		}}
}

// resultOf returns the result of a task of [newPlan]: the tenth of each ten fails.
func resultOf(t plan.Task, i int) *plan.Result {
	if i%10 == 9 {
		return &plan.Result{Task: t.ID, Status: plan.Failed, Class: plan.ClassTask, Reason: "exit code 1", Attempts: 1,
			Tail: "reading\nERROR: the quota of <b>team</b> is 10\n", Effects: &plan.Effects{Unknown: "the task failed"}}
	}
	return &plan.Result{Task: t.ID, Status: plan.Passed, Attempts: 1, Effects: &plan.Effects{Items: []plan.Effect{
		{Kind: plan.EffectCreate, Subject: "user of " + t.ID}}}}
}

// begin starts a session that the test ends.
func begin(t *testing.T, opts live.Options) *live.Session {
	t.Helper()
	s, err := live.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.End(context.Background(), nil) })
	return s
}

// An answer is what a server answers.
type answer struct {
	code   int
	header http.Header
	text   string
}

// ask sends a request.
func ask(t *testing.T, method, address string, header http.Header) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

// root returns the address without the token.
func root(s *live.Session) string {
	parts := strings.SplitAfter(s.Address(), "/")
	return strings.Join(parts[:3], "")
}

// cookie returns the cookie that the address with the token gives.
func cookie(t *testing.T, address string) string {
	t.Helper()
	got := ask(t, http.MethodGet, address, nil)
	if got.code != http.StatusOK {
		t.Fatalf("%s answers %d", address, got.code)
	}
	for _, c := range (&http.Response{Header: got.header}).Cookies() {
		if c.HttpOnly && c.SameSite == http.SameSiteStrictMode && c.Path == "/" {
			return c.Name + "=" + c.Value
		}
	}
	t.Fatalf("no strict cookie in %v", got.header)
	return ""
}

// Only who knows the token reads the page, on this machine and from nowhere else. All that is refused looks alike.
func TestWhoMayRead(t *testing.T) {
	s := begin(t, options(newPlan(3)))
	at, key := root(s), cookie(t, s.Address())
	got := ask(t, http.MethodGet, at, http.Header{"Cookie": {key}})
	if got.code != http.StatusOK || !strings.Contains(got.text, "0 of 3 tasks ended") {
		t.Fatalf("got %d: %.200s", got.code, got.text)
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Frame-Options": "DENY"} {
		if is := got.header.Get(name); is != want {
			t.Errorf("%s is %q, want %q", name, is, want)
		}
	}
	if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; ") ||
		strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the policy is %q", policy)
	}
	own := "http://" + strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/")
	for _, c := range []struct {
		name, method, path string
		header             http.Header
		want               int
	}{
		{"no key", "GET", "", nil, 404},
		{"no key for events", "GET", "events?after=0", nil, 404},
		{"another key", "GET", "", http.Header{"Cookie": {key[:len(key)-1] + "-"}}, 404},
		{"an empty key", "GET", "", http.Header{"Cookie": {strings.SplitAfter(key, "=")[0]}}, 404},
		{"a guessed token", "GET", "AAAAAAAAAAAAAAAAAAAAAA/", nil, 404},
		{"an empty token", "GET", "/", nil, 404},
		{"below the token", "GET", strings.TrimPrefix(s.Address(), at) + "events", nil, 404},
		{"another host", "GET", "", http.Header{"Cookie": {key}, "Host": {"evil.example:80"}}, 404},
		{"another host with the token", "GET", strings.TrimPrefix(s.Address(), at), http.Header{"Host": {"evil.example"}},
			404},
		{"another origin", "GET", "", http.Header{"Cookie": {key}, "Origin": {"https://evil.example"}}, 404},
		{"no origin", "GET", "", http.Header{"Cookie": {key}, "Origin": {"null"}}, 404},
		{"another page of this machine", "GET", "", http.Header{"Cookie": {key}, "Sec-Fetch-Site": {"same-site"}}, 404},
		{"a part of another page", "GET", strings.TrimPrefix(s.Address(), at), http.Header{"Sec-Fetch-Dest": {"image"}}, 404},
		{"a form", "POST", "", http.Header{"Cookie": {key}, "Origin": {own}}, 404},
		{"another method", "OPTIONS", "", http.Header{"Cookie": {key}}, 404},
		{"another path", "GET", "x", http.Header{"Cookie": {key}}, 404},
		{"outside of the page", "GET", "../etc/passwd", http.Header{"Cookie": {key}}, 404},
		{"the page itself", "GET", "", http.Header{"Cookie": {key}, "Origin": {own}, "Sec-Fetch-Site": {"same-origin"}}, 200},
		{"by another name", "GET", "", http.Header{"Cookie": {key}, "Host": {
			strings.Replace(own[7:], "127.0.0.1", "localhost", 1)}}, 200},
		{"the head alone", "HEAD", "", http.Header{"Cookie": {key}}, 200},
		{"no number", "GET", "events?after=x", http.Header{"Cookie": {key}}, 400},
	} {
		if got := ask(t, c.method, at+c.path, c.header); got.code != c.want ||
			c.want == 404 && c.method != "HEAD" && got.text != "404 page not found\n" {
			t.Errorf("%s: got %d, want %d; %.100q", c.name, got.code, c.want, got.text)
		}
	}
}

// The page is shown on this machine alone.
func TestAddresses(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "[::]:0", "example.org:80", "127.0.0.1", ""} {
		if err := live.CheckAddress(address); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "[::1]:8000", "127.0.0.2:80"} {
		if err := live.CheckAddress(address); err != nil {
			t.Error(err)
		}
	}
	if _, err := live.Start(t.Context(), live.Options{Address: "0.0.0.0:0", Plan: newPlan(1)}); err == nil {
		t.Error("the page is shown to everybody")
	}
}

// A name of this machine may lead elsewhere: what was listened at decides, and is closed.
func TestListenerOfOthers(t *testing.T) {
	listener, err := net.Listen("tcp", "0.0.0.0:0") //nolint:gosec,noctx // it is to be refused
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if s, err := live.StartOn(listener, options(newPlan(1))); err == nil {
		_ = s.End(context.Background(), nil)
		t.Fatal("the page is shown to everybody")
	}
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it goes on to listen: %v", err)
	}
}

// A copy that is being written ends before the last state is written.
func TestStopCopiesWaits(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}), make(chan struct{})
	var hasEnded atomic.Bool
	opts := options(newPlan(1))
	opts.Copy = func([]byte) error {
		close(began)
		<-goOn
		hasEnded.Store(true)
		return nil
	}
	s := begin(t, opts)
	s.Observe(wrapper.Event{Task: opts.Plan.Tasks[0]})
	<-began
	time.AfterFunc(50*time.Millisecond, func() { close(goOn) })
	s.StopCopies()
	if !hasEnded.Load() {
		t.Error("a copy is still being written")
	}
	s.StopCopies()
}

// A reader hears what it missed. Who missed too much loads the page again.
func TestEvents(t *testing.T) {
	p := newPlan(1200)
	s := begin(t, options(p))
	at, key := root(s), cookie(t, s.Address())
	for i, task := range p.Tasks[:10] {
		s.Observe(wrapper.Event{Task: task})
		s.Observe(wrapper.Event{Task: task, Result: resultOf(task, i)})
	}
	if got := listen(t, at, key, "2")(3); got[0] != "id: 3" || got[1] == "event: reload" {
		t.Errorf("who missed some gets %q", got)
	}
	for i, task := range p.Tasks[10:] {
		s.Observe(wrapper.Event{Task: task})
		s.Observe(wrapper.Event{Task: task, Result: resultOf(task, i)})
	}
	if got := listen(t, at, key, "2")(1); got[0] != "event: reload" {
		t.Errorf("who missed too much gets %q", got)
	}
	if got := listen(t, at, key, "99999")(1); got[0] != "event: reload" {
		t.Errorf("who comes from another run gets %q", got)
	}
}

// listen opens the events, and returns a function that reads some lines of them that are not empty.
func listen(t *testing.T, at, key, after string) func(n int) []string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"events?after=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Cookie": {key}, "Last-Event-Id": {after}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<24)
	return func(n int) (out []string) {
		for len(out) < n && lines.Scan() {
			if lines.Text() != "" {
				out = append(out, lines.Text())
			}
		}
		return out
	}
}

// A reader that does not read slows no task down, and there are not more readers than eight.
func TestSlowReaders(t *testing.T) {
	p := newPlan(600)
	s := begin(t, options(p))
	at, key := root(s), cookie(t, s.Address())
	for range 8 {
		listen(t, at, key, "0") // and nobody reads
	}
	got := ask(t, http.MethodGet, at+"events?after=0", http.Header{"Cookie": {key}})
	if got.code != http.StatusServiceUnavailable {
		t.Errorf("the ninth reader gets %d", got.code)
	}
	began := time.Now()
	for i, task := range p.Tasks {
		result := resultOf(task, i)
		for n := range 20 {
			result.Effects.Items = append(result.Effects.Items, plan.Effect{Kind: plan.EffectCreate,
				Subject: strings.Repeat("long ", 30) + fmt.Sprint(n)})
		}
		s.Observe(wrapper.Event{Task: task, Result: result})
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the run took %v", took)
	}
}

// The run may go on changing its results, and hostile names stay text.
func TestResultsAreCopied(t *testing.T) {
	p := newPlan(2)
	p.Tasks[0].ID = "</script><img src=x onerror=alert(1)>\u202e\n"
	p.Integrations[0].Tasks[0] = p.Tasks[0].ID
	s := begin(t, options(p))
	at, key := root(s), cookie(t, s.Address())
	result := resultOf(p.Tasks[0], 0)
	result.Effects.Items[0].Subject = "a</noscript><img src=x>"
	s.Observe(wrapper.Event{Task: p.Tasks[0], Result: result})
	result.Effects.Items[0].Subject = "changed later"
	text := ask(t, http.MethodGet, at, http.Header{"Cookie": {key}}).text
	events := strings.Join(listen(t, at, key, "0")(6), "\n")
	for _, bad := range []string{"<img", "changed later", "\u202e", "a</noscript>"} {
		if strings.Contains(text, bad) || strings.Contains(events, bad) {
			t.Errorf("the page or its events have %q", bad)
		}
	}
	if !strings.Contains(text, "1 of 2 tasks ended") || !strings.Contains(events, "event: effects") {
		t.Errorf("got %s", events)
	}
}

// The browser that is started gets an address that is good once: others may read the arguments of programs. The session
// waits for it at the end.
func TestTicket(t *testing.T) {
	s := begin(t, options(newPlan(1)))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "address")
	t.Setenv(calledBrowser, name)
	b, err := s.Open(func(string) string { return program }, func(line string) { t.Error(line) })
	if err != nil {
		t.Fatal(err)
	}
	b.Wait(t.Context(), func() {})
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	address := string(raw)
	if address == s.Address() || !strings.HasPrefix(address, root(s)) {
		t.Fatalf("the browser is called with %q", address)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.End(context.Background(), []byte("the last page")) }()
	if got := ask(t, http.MethodHead, address, nil); got.code != http.StatusNotFound {
		t.Errorf("a look at the address gets %d", got.code)
	}
	key := cookie(t, address)
	if got := ask(t, http.MethodGet, address, nil); got.code != http.StatusNotFound {
		t.Errorf("the address is good twice: %d", got.code)
	}
	if got := ask(t, http.MethodGet, root(s), http.Header{"Cookie": {key}}); got.text != "the last page" {
		t.Errorf("the browser gets %d %.100s", got.code, got.text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A browser that fails is told, and nobody waits for it.
func TestBrowserThatFails(t *testing.T) {
	s := begin(t, options(newPlan(1)))
	said := make(chan string, 1)
	b, err := s.Open(func(string) string { return "false" }, func(line string) { said <- line })
	if err != nil {
		t.Skip("there is no program that fails")
	}
	b.Wait(t.Context(), func() {})
	if line := <-said; !strings.HasPrefix(line, "no browser opened the page: false: exit status 1; open the address above") {
		t.Errorf("got %q", line)
	}
	began := time.Now()
	if err := s.End(t.Context(), []byte("page")); err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("the end took %v: %v", time.Since(began), err)
	}
}
