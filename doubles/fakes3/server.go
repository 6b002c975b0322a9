package fakes3

import (
	"crypto/md5"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bucket is the name of the only bucket.
const Bucket = "memory"

// A Server is an S3 server with one bucket.
type Server struct {
	URL string

	mu       sync.Mutex
	objects  map[string]object
	page     int
	fault    func(*http.Request) Fault
	requests int
}

type object struct {
	body    []byte
	etag    string
	written time.Time
}

// A Fault changes how the server handles a request. The zero value changes nothing.
type Fault struct {
	Status int           // answer with this status, and do nothing else
	Delay  time.Duration // wait before doing anything
	Ignore bool          // ignore the condition of a write
	Lose   bool          // do what is asked, and cut the connection before the answer
	Cut    bool          // send half of the body, and cut the connection
}

// Start starts a server that ends with the test. It sets the environment of the
// test so that clients use the server.
func Start(t testing.TB) *Server {
	t.Helper()
	s := New()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	for name, value := range s.Environ() {
		t.Setenv(name, value)
	}
	return s
}

// New returns a server that does not listen yet.
func New() *Server { return &Server{objects: map[string]object{}, page: 1000} }

// Environ returns the environment variables that make a client use the server, and
// ignore the settings of the user.
func (s *Server) Environ() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
		"AWS_SECRET_ACCESS_KEY": "sesame-open",
		"AWS_CONFIG_FILE":       "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent", "AWS_PROFILE": "",
		"AWS_SESSION_TOKEN":         "",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1", "AWS_ENDPOINT_URL_S3": "",
	}
}

// Fail sets the function that returns the fault of each later request. Nil means
// no faults.
func (s *Server) Fail(fault func(*http.Request) Fault) { s.mu.Lock(); s.fault = fault; s.mu.Unlock() }

// Page sets the number of objects in a page of a list.
func (s *Server) Page(n int) { s.mu.Lock(); s.page = n; s.mu.Unlock() }

// Requests returns the number of requests so far.
func (s *Server) Requests() int { s.mu.Lock(); defer s.mu.Unlock(); return s.requests }

// Keys returns the sorted keys of all objects.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys("")
}

// Age makes an object older: it moves the time of its last write back.
func (s *Server) Age(key string, by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[key]
	o.written = o.written.Add(-by)
	s.objects[key] = o
}

// Put stores an object without a request.
func (s *Server) Put(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(key, []byte(text))
}

// put stores an object. The caller holds the lock.
func (s *Server) put(key string, body []byte) object {
	o := object{body, fmt.Sprintf(`"%x"`, md5.Sum(body)), time.Now()}
	s.objects[key] = o
	return o
}

// keys returns the sorted keys with a prefix. The caller holds the lock.
func (s *Server) keys(prefix string) []string {
	var out []string
	for key := range s.objects {
		if strings.HasPrefix(key, prefix) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	choose := s.fault
	s.mu.Unlock()
	var f Fault
	if choose != nil {
		f = choose(r)
	}
	body, err := io.ReadAll(r.Body)
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return
		}
	}
	a := answer{status: f.Status, code: http.StatusText(f.Status)}
	if err != nil {
		a.status = http.StatusBadRequest
	}
	if a.status == 0 {
		s.mu.Lock()
		a = s.answer(r, body, f.Ignore)
		s.mu.Unlock()
	}
	if f.Lose {
		panic(http.ErrAbortHandler)
	}
	a.send(w, r, f.Cut)
}

// An answer is a status with an object, or with the code of an error.
type answer struct {
	status int
	code   string
	object object
}

// send writes the answer, or the first half of its body.
func (a answer) send(w http.ResponseWriter, r *http.Request, cut bool) {
	body := a.object.body
	if a.code != "" {
		body = fmt.Appendf(nil, "<Error><Code>%s</Code><Message>%s</Message></Error>", strings.ReplaceAll(a.code, " ", ""),
			a.code)
	}
	h := w.Header()
	if a.object.etag != "" {
		h.Set("ETag", a.object.etag)
		h.Set("Last-Modified", a.object.written.UTC().Format(http.TimeFormat))
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(a.status)
	if cut {
		body = body[:len(body)/2]
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have gone away
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// answer does what a request asks for. The caller holds the lock.
func (s *Server) answer(r *http.Request, body []byte, ignore bool) answer {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	old, exists := s.objects[key]
	switch {
	case bucket != Bucket:
		return answer{status: 404, code: "NoSuchBucket"}
	case key == "":
		return s.list(r)
	case !ignore && !exists && r.Header.Get("If-Match") != "":
		return answer{status: 404, code: "NoSuchKey"}
	case !ignore && !conditionHolds(r, old, exists):
		return answer{status: 412, code: "PreconditionFailed"}
	case r.Method == http.MethodPut:
		return answer{status: 200, object: object{etag: s.put(key, body).etag}}
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		return answer{status: 204}
	case !exists:
		return answer{status: 404, code: "NoSuchKey"}
	}
	return answer{status: 200, object: old}
}

// conditionHolds reports whether the condition of a request holds for the object.
func conditionHolds(r *http.Request, old object, exists bool) bool {
	if want := r.Header.Get("If-Match"); want != "" && want != old.etag {
		return false
	}
	return r.Header.Get("If-None-Match") != "*" || !exists
}

// A listPage is a page of a list, in the XML of S3.
type listPage struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Name                  string
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	EncodingType          string `xml:",omitempty"`
	Contents              []content
}

// A content is an entry of a list.
type content struct {
	Key, ETag    string
	Size         int
	LastModified string
}

// list answers a request for a page of a list. The caller holds the lock.
func (s *Server) list(r *http.Request) answer {
	query := r.URL.Query()
	out := listPage{Name: Bucket, EncodingType: query.Get("encoding-type")}
	encode, last := func(key string) string { return key }, ""
	if out.EncodingType == "url" {
		encode = url.QueryEscape
	}
	for _, key := range s.keys(query.Get("prefix")) {
		if key <= query.Get("continuation-token") {
			continue
		}
		if len(out.Contents) == s.page {
			out.IsTruncated, out.NextContinuationToken = true, last
			break
		}
		o := s.objects[key]
		last = key
		out.Contents = append(out.Contents,
			content{encode(key), o.etag, len(o.body), o.written.UTC().Format("2006-01-02T15:04:05.000Z")})
	}
	raw, err := xml.Marshal(out)
	if err != nil {
		return answer{status: 500, code: "InternalError"}
	}
	return answer{status: 200, object: object{body: raw}}
}
