package outward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/origin"
)

// dialed are the addresses that were connected to. The transport of the process notes them, before anything is copied
// from it.
var dialed struct {
	sync.Mutex
	list []string
}

func TestMain(m *testing.M) {
	if address := os.Getenv("ASK_FOR_PROXY"); address != "" { // this test started itself, see TestOffline
		req, err := http.NewRequest(http.MethodGet, address, http.NoBody) //nolint:noctx // nobody sends it
		if err == nil {
			proxy, err := http.ProxyFromEnvironment(req)
			fmt.Println(proxy, err)
		}
		os.Exit(0)
	}
	own := http.DefaultTransport.(*http.Transport)
	own.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed.Lock()
		dialed.list = append(dialed.list, address)
		dialed.Unlock()
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	os.Exit(m.Run())
}

// wasDialed returns what was connected to since the last call.
func wasDialed() []string {
	dialed.Lock()
	defer dialed.Unlock()
	out := dialed.list
	dialed.list = nil
	return out
}

// party returns a server as a party.
func party(t *testing.T, address string) Party {
	t.Helper()
	at, err := origin.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return Party{At: at, Remedy: NameInData}
}

// request makes a request.
func request(t *testing.T, method, address string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// A request goes to the party alone, and nothing else is even looked up.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	p := party(t, server.URL)
	p.Authorization = Bearer("sesame")
	plain := Party{At: origin.Origin{Scheme: "http", Host: "plain.invalid", Port: "80"}, Authorization: Bearer("sesame")}
	lines := p
	lines.Authorization = Bearer("a\r\nb: c")
	header := request(t, "GET", server.URL)
	header.Host = "other.invalid"
	for name, c := range map[string]struct {
		to   Party
		req  *http.Request
		want string
	}{
		"another host": {p, request(t, "GET", "https://other.invalid/"),
			`nothing is sent to "other.invalid", which is another server than ` + p.At.String() + ": " + NameInData},
		"another port":   {p, request(t, "GET", "http://127.0.0.1:1/"), "nothing is sent to"},
		"another scheme": {p, request(t, "GET", strings.Replace(server.URL, "http:", "https:", 1)), "nothing is sent to"},
		"a user": {p, request(t, "GET", strings.Replace(server.URL, "http://", "http://me:too@", 1)),
			"nothing is sent to"},
		"the header Host": {p, header, `nothing is sent for "other.invalid"`},
		"a write":         {p, request(t, "POST", server.URL), "a connection that does not write sends no POST"},
		"http": {plain, request(t, "GET", "http://plain.invalid/"),
			"plain.invalid would get a credential over http: name it with https"},
		"a line too many":  {lines, request(t, "GET", server.URL), "characters that no header has"},
		"no party":         {Party{}, request(t, "GET", server.URL), "nothing is sent to"},
		"not an address":   {p, request(t, "GET", "file:///etc/passwd"), "nothing is sent to"},
		"a wildcard":       {p, request(t, "GET", "https://*.invalid/"), "nothing is sent to"},
		"the usual method": {p, request(t, "", server.URL), ""},
	} {
		wasDialed()
		res, err := c.to.Client().Do(c.req)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: got %v", name, err)
				continue
			}
			_ = res.Body.Close()
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !IsRefused(err) ||
			strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if is := wasDialed(); len(is) > 0 {
			t.Errorf("%s: %q was connected to", name, is)
		}
		if err := c.to.CheckAddress(c.req.URL.String()); (err == nil) != (name == "a write" || name == "the header Host") {
			t.Errorf("%s: the address: got %v", name, err)
		}
	}
}

// The credential has the form of the header.
func TestCredential(t *testing.T) {
	for value, isFine := range map[string]bool{
		"": true, Bearer("sesame"): true, Basic("me", "se same\n"): true, Bearer(""): false, Bearer("a b"): false,
		Bearer("ä"): false, "sesame": false, "Bearer  a": false, " a": false,
	} {
		p := party(t, "https://a.example")
		p.Authorization = value
		if err := p.CheckAddress("https://A.example:443/b"); (err == nil) != isFine || err != nil && !IsRefused(err) {
			t.Errorf("%q: got %v", value, err)
		}
	}
	if err := party(t, "https://a.example").CheckAddress("https://a.example/\x00"); !IsRefused(err) {
		t.Errorf("got %v for an address that is none", err)
	}
}

// A redirect is followed on the server alone, and as often as the party allows. The credential goes along, and the one
// of the request does not.
func TestRedirects(t *testing.T) {
	var seen []string
	to := "/b"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/a", "/round":
			http.Redirect(w, r, to, http.StatusFound)
		case "/same":
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		path, to string
		follows  int
		seen     int
		want     string
	}{
		"none allowed": {"/a", "/b", 0, 1, "it sends us to another address: " + NameInData},
		"one allowed":  {"/a", "/b", 1, 2, ""},
		"itself":       {"/a", server.URL + "/b", 1, 2, ""},
		"round":        {"/round", "/round", 3, 4, "it sends us to another address more than 3 times"},
		"another host": {"/a", "https://other.invalid/b", 3, 1, "it sends us to another address: " + NameInData},
		"another port": {"/a", "http://127.0.0.1:1/b", 3, 1, "it sends us to another address"},
		"a user": {"/a", strings.Replace(server.URL, "//", "//me:too@", 1) + "/b", 3, 1,
			"it sends us to another address"},
		"not modified": {"/same", "", 0, 1, ""},
	} {
		p := party(t, server.URL)
		p.Follows, p.Authorization = c.follows, Bearer("sesame")
		seen, to = nil, c.to
		wasDialed()
		req := request(t, "GET", server.URL+c.path)
		req.Header.Set("Authorization", "Bearer mine")
		res, err := p.Client().Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !IsRefused(err)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		isOwn := func(s string) bool { return strings.HasSuffix(s, " Bearer sesame") }
		if len(seen) != c.seen || slices.ContainsFunc(seen, func(s string) bool { return !isOwn(s) }) {
			t.Errorf("%s: the server saw %q", name, seen)
		}
		for _, at := range wasDialed() {
			if at != p.At.String() {
				t.Errorf("%s: %s was connected to", name, at)
			}
		}
	}
	seen = nil
	req := request(t, "GET", server.URL+"/b")
	req.Header.Set("Authorization", "Bearer mine")
	res, err := party(t, server.URL).Client().Do(req)
	if err != nil || res.Body.Close() != nil || len(seen) != 1 || seen[0] != "GET /b " {
		t.Errorf("without a credential: got %v, the server saw %q", err, seen)
	}
}

// May says what else than GET and HEAD is sent.
func TestMay(t *testing.T) {
	seen := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen++ }))
	defer server.Close()
	p := party(t, server.URL)
	for name, c := range map[string]struct {
		may  func(*http.Request) bool
		want int
	}{"nothing": {nil, 2}, "anything": {Anything, 6}, "one": {func(r *http.Request) bool { return r.Method == "PUT" },
		3}} {
		seen, p.May = 0, c.may
		for _, method := range []string{"GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"} {
			if res, err := p.Client().Do(request(t, method, server.URL)); err == nil {
				_ = res.Body.Close()
			}
		}
		if seen != c.want {
			t.Errorf("%s: %d requests were sent, want %d", name, seen, c.want)
		}
	}
}

// An answer may have as many bytes as the party says, and not one more.
func TestLargest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "12345")
	}))
	defer server.Close()
	p := party(t, server.URL)
	for most, want := range map[int64]string{0: "12345", 4: "1234", 5: "12345", 6: "12345"} {
		p.Largest = most
		res, err := p.Client().Do(request(t, "GET", server.URL))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if string(got) != want || errors.Is(err, ErrTooLong) != (most == 4) {
			t.Errorf("at most %d: got %q, %v", most, got, err)
		}
		_ = res.Body.Close()
	}
}

// Certificates are checked, unless the party says otherwise.
func TestInsecure(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	server.Config.ErrorLog = nil
	p := party(t, server.URL)
	var certificate *tls.CertificateVerificationError
	if _, err := p.Client().Do(request(t, "GET", server.URL)); !errors.As(err, &certificate) { //nolint:bodyclose // there is none
		t.Errorf("got %v", err)
	}
	p.Insecure = true
	res, err := p.Client().Do(request(t, "GET", server.URL))
	if err != nil || res.Body.Close() != nil {
		t.Errorf("got %v", err)
	}
}

// A program that asks nobody has a proxy for all that is not this machine, whatever the environment had.
func TestOffline(t *testing.T) {
	for _, address := range []string{"https://a.example", "http://a.example:8080", "https://10.0.0.1"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test
		cmd.Env = append([]string{"ASK_FOR_PROXY=" + address, "NO_PROXY=*"}, Offline()...)
		if out, err := cmd.Output(); err != nil || string(out) != "http://127.0.0.1:1 <nil>\n" {
			t.Errorf("%s: got %q, %v", address, out, err)
		}
	}
}

// An error of a connection says what happened without the address, and has a class.
func TestExplain(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-release
			return
		}
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	defer close(release)
	safe := httptest.NewTLSServer(http.NotFoundHandler())
	defer safe.Close()
	safe.Config.ErrorLog = nil
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for name, c := range map[string]struct {
		address string
		isOver  bool // we are stopped
		want    string
		class   string
	}{
		"nobody listens": {closed.URL, false, "reaching it: dial tcp " + strings.TrimPrefix(closed.URL, "http://"),
			"transient"},
		"it ends":        {server.URL, false, "it ends its answer early", "transient"},
		"its authority":  {safe.URL, false, "the certificate of it cannot be trusted: ", "config"},
		"it is slow":     {server.URL + "/slow", false, "it does not answer in time", "transient"},
		"we are stopped": {server.URL, true, "enough", ""},
	} {
		p := party(t, c.address)
		if strings.HasSuffix(c.address, "/slow") {
			p.Timeout = 100 * time.Millisecond
		}
		ctx := t.Context()
		if c.isOver {
			ctx = over
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Client().Do(req) //nolint:bodyclose // there is none
		err = Explain(ctx, "it", err)
		class := ""
		if of := (interface{ FailureClass() string })(nil); errors.As(err, &of) {
			class = of.FailureClass()
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || class != c.class {
			t.Errorf("%s: got %v of the class %q, want %q", name, err, class, c.want)
		}
	}
	if err := Explain(t.Context(), "it",
		errors.New("words of the server")); err.Error() != "it gives no answer that can be read" {
		t.Errorf("got %v", err)
	}
	refused := party(t, server.URL).Check(request(t, "PUT", server.URL))
	if err := Explain(over, "it", &wrapped{refused}); !errors.Is(err, refused) || err.Error() != refused.Error() {
		t.Errorf("got %v, want %v", err, refused)
	}
}

// A wrapped error has another text.
type wrapped struct{ error }

func (w *wrapped) Error() string { return "Get address: " + w.error.Error() }
func (w *wrapped) Unwrap() error { return w.error }
