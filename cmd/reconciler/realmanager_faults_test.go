//go:build !race

package main

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A faulty proxy stands before a server. It divides lists into small pages, and fails some
// requests: before the server has them, or after it did what they ask for.
type faulty struct {
	mu     sync.Mutex
	random *rand.Rand
	rate   float64        // of requests that fail
	count  map[string]int // of faults, by kind
	to     *httputil.ReverseProxy
}

// newFaulty starts a proxy before a server, and returns it with its address.
func newFaulty(t *testing.T, server string, seed uint64) (*faulty, string) {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{random: rand.New(rand.NewPCG(seed, 3)), count: map[string]int{}} //nolint:gosec // repeatable
	f.to = &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:      &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // its own certificate
		ModifyResponse: f.cut,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	s := httptest.NewTLSServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

// draw returns one of the faults, "" for none, and counts it.
func (f *faulty) draw(faults ...string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random.Float64() >= f.rate {
		return ""
	}
	kind := faults[f.random.IntN(len(faults))]
	f.count[kind]++
	return kind
}

// ServeHTTP implements [http.Handler].
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Has("limit") {
		query.Set("limit", "3")
		r.URL.RawQuery = query.Encode()
	}
	faults := []string{"503", "503 later", "403", "close"}
	if query.Has("continue") {
		faults = append(faults, "410", "410")
	}
	status := func(code int, reason string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w,
			`{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": %q, "code": %d, "message": "a fault"}`,
			reason, code)
	}
	switch f.draw(faults...) {
	case "503":
		status(http.StatusServiceUnavailable, "ServiceUnavailable")
	case "503 later":
		w.Header().Set("Retry-After", "1")
		status(http.StatusServiceUnavailable, "ServiceUnavailable")
	case "403":
		status(http.StatusForbidden, "Forbidden")
	case "410":
		status(http.StatusGone, "Expired")
	case "close":
		panic(http.ErrAbortHandler)
	default:
		f.to.ServeHTTP(w, r)
	}
}

// cut cuts the body of some answers. The server has done what was asked for.
func (f *faulty) cut(r *http.Response) error {
	if f.draw("cut") == "" {
		return nil
	}
	raw, err := io.ReadAll(r.Body)
	_ = r.Body.Close() // it was read
	r.Body = io.NopCloser(strings.NewReader(string(raw[:len(raw)/2])))
	return err
}

// foreign are objects that look like ours and are not: others copied our labels and annotations.
const foreign = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "%s", "labels": {"app": "qontract-reconcile-by-account", "qontract.integration": "integrations-manager"},
"annotations": {"qontract.integration": "integrations-manager", "qontract.caller_name": "https://github.com/app-sre/qontract-reconcile"}},
"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "int", "image": "x"}]}}}}`

// makeForeign makes objects of others, and returns their versions by path.
func (in *installation) makeForeign(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for i, name := range []string{"copied", "qontract-reconcile-by-account-gone", "qontract-reconcile-foreign"} {
		path := "/apis/apps/v1/namespaces/" + namespaceName(i%2) + "/deployments/" + name
		code, raw := in.real.Send(t, "admin", http.MethodPatch, path+"?fieldManager=tool", "application/apply-patch+yaml",
			fmt.Sprintf(foreign, name))
		if code != http.StatusCreated {
			t.Fatalf("%d %s", code, raw)
		}
		out[path] = in.versionOf(t, path)
	}
	return out
}

func (in *installation) versionOf(t *testing.T, path string) string {
	t.Helper()
	return fmt.Sprint(at(in.get(t, path), "metadata")["resourceVersion"])
}

// setFaultyRevision sets the data of a revision. Each tenth bundle has lost nearly all.
func (in *installation) setFaultyRevision(r int) {
	for i := range 8 {
		name := fmt.Sprintf("account-%d", i)
		if delete(in.data, "/accounts/"+name+".yml"); r%10 != 9 && (r+i)%5 > 0 {
			in.addAccount(name)
		}
	}
	in.define("by-account", 0, datafile{"extraArgs": fmt.Sprintf("--revision %d", r/3)},
		datafile{"strategy": "per-aws-account"})
	in.define("by-key", 1, datafile{}, datafile{"strategy": "per-aws-account"})
	in.define("job", 1, datafile{"cron": fmt.Sprintf("%d * * * *", r%60)}, nil)["delete"] = r%7 == 3
}

// Random faults of a server and bundles that shrink: nothing that the data want is deleted,
// nothing of others is touched, and what is kept is told. PRCHECK_FAULTS says how many runs.
func TestRealManagerFaults(t *testing.T) {
	runs, err := strconv.Atoi(cmp.Or(os.Getenv("PRCHECK_FAULTS"), "12"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("PRCHECK_SEED"), strconv.FormatInt(time.Now().UnixNano(), 10)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs with PRCHECK_SEED=%d", runs, seed)
	in := newInstallation(t, 2)
	proxy, address := newFaulty(t, in.real.URL, seed)
	in.data["/clusters/west.yml"]["serverUrl"] = address
	in.write(t, filepath.Join("secrets-write", "kube", "west", "server"), address)
	theirs := in.makeForeign(t)
	in.setFaultyRevision(0)
	in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	kept := 0
	for r := 1; r <= runs; r++ {
		in.setFaultyRevision(r)
		proxy.rate = 0.04
		kept += in.runWithFaults(t, r)
	}
	for path, version := range theirs {
		if now := in.versionOf(t, path); now != version {
			t.Errorf("%s of others had version %s and has %s", path, version, now)
		}
	}
	t.Logf("faults: %v; %d deletions were kept", proxy.count, kept)
	proxy.rate = 0
	in.setFaultyRevision(1)
	in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	in.checkWrites(t, "the last run", 0, "")
}

// runWithFaults makes one run. It returns how many objects of ours are there that the data do not
// want.
func (in *installation) runWithFaults(t *testing.T, revision int) int {
	t.Helper()
	wanted := map[string]bool{}
	for _, o := range in.rendered(t, "faults") {
		if _, path := pathOfObject(o); o["spec"] != nil {
			wanted[path] = true
		}
	}
	before := in.sent(t, "write")
	r := in.runAny(t, command{bundle: "faults", more: []string{"--no-dry-run", "--state", "state"}})
	for _, q := range in.sent(t, "write").since(before)["delete"] {
		if wanted[q.Path] {
			t.Errorf("%s, which the data want, in revision %d", q, revision)
		}
	}
	left := 0
	text := r.String() + strings.Join(r.actions(), "\n") + r.log
	for path := range in.snapshot(t) {
		name := path[strings.LastIndexByte(path, '/')+1:]
		if wanted[path] ||
			slices.Contains([]string{"copied", "qontract-reconcile-by-account-gone", "qontract-reconcile-foreign", "kubernetes"},
				name) {
			continue
		}
		// nobody knows the names if a list fails
		part := "west/" + strings.Split(path, "/namespaces/")[1][:len(namespaceName(0))] + ":"
		if left++; r.Outcome == "done" || !strings.Contains(text, name) && !strings.Contains(text, part) {
			t.Errorf("%s is left in revision %d, and nobody says so: %v", path, revision, r)
		}
	}
	return left
}
