package armtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"
)

// maxBody is the largest body that the service takes, in bytes.
const maxBody = 4 << 20

// A Request is a request that the server got.
type Request struct {
	At          time.Time
	Method      string
	Path        string // without the query
	Version     string // api-version
	IfMatch     string
	IfNoneMatch string
	Type        string // Content-Type
	Body        string
	Token       string
	Status      int    // of the answer; that of the service, if a fault hid it
	Code        string // of the error
	// Running says that an operation was going on at the resource which a write would change.
	Running bool
}

// String returns a request on one line, without its body.
func (r Request) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %d %s", r.Method, r.Path, r.Status, r.Code), " ")
}

// IsWrite reports whether a request could change something.
func (r Request) IsWrite() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// A Fault says how a request goes wrong.
type Fault struct {
	Status int         // the server answers this and does nothing; 0 means that it does its work
	Code   string      // of the error, with Status
	Header http.Header // of the answer with Status
	Body   string      // of the answer with Status, in place of an error with Code
	Type   string      // Content-Type of Body
	Cut    bool        // half of the answer gets lost, after the work was done
	Lost   bool        // the whole answer gets lost, after the work was done
}

// Fail asks a function about each request from now on. Nil, and the answer nil, mean that the
// server works.
func (s *Server) Fail(fault func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Requests returns all requests until now.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Writes returns the requests until now that could change something.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.IsWrite() })
}

// Overlaps returns the writes that came while an operation was going on at their resource. They are
// kept when the list of requests is emptied.
func (s *Server) Overlaps() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.overlaps)
}

// Forget empties the list of requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// A call is one request on its way through the server.
type call struct {
	w        http.ResponseWriter
	answer   *httptest.ResponseRecorder // what the service answers
	r        *http.Request
	noted    Request
	parts    []string // of the path, decoded
	mistake  string   // why the path cannot be read
	endpoint string   // the address of the service, as the client knows it
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *call {
	c := &call{w: w, r: r, answer: httptest.NewRecorder(), endpoint: "http://" + r.Host}
	if r.TLS != nil || r.URL.Scheme == "https" {
		c.endpoint = "https://" + r.Host
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		c.mistake = "the body cannot be read"
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		c.mistake = "the query cannot be read"
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	c.noted = Request{
		At: s.Now(), Method: r.Method, Path: r.URL.EscapedPath(), Version: query.Get("api-version"),
		Body: string(body), Token: token, Type: r.Header.Get("Content-Type"),
		IfMatch: r.Header.Get("If-Match"), IfNoneMatch: r.Header.Get("If-None-Match"),
	}
	for part := range strings.SplitSeq(strings.Trim(r.URL.EscapedPath(), "/"), "/") {
		name, err := url.PathUnescape(part)
		if err != nil || name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\%?#\x00") {
			c.mistake = "the address cannot be read"
		}
		c.parts = append(c.parts, name)
	}
	return c
}

// id returns the path of a request as an id.
func (c *call) id() string { return "/" + strings.Join(c.parts, "/") }

// faultOf returns what is to go wrong with a request, nil if nothing is.
func (s *Server) faultOf(c *call) *Fault {
	if s.fault == nil {
		return nil
	}
	f := s.fault(c.noted)
	if f == nil || f.Status == 0 {
		return f
	}
	for name, values := range f.Header {
		c.answer.Header()[name] = values
	}
	if f.Body == "" {
		c.refuse(f.Status, f.Code, "", "this goes wrong on purpose")
		return f
	}
	c.answer.Header().Set("Content-Type", f.Type)
	c.noted.Status = f.Status
	c.answer.WriteHeader(f.Status)
	_, _ = c.answer.WriteString(f.Body) // a recorder takes everything
	return f
}

// finish sends the answer.
func (c *call) finish(f *Fault) {
	if f != nil && f.Lost {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	for name, values := range c.answer.Header() {
		c.w.Header()[name] = values
	}
	body := c.answer.Body.Bytes()
	if f != nil && f.Cut {
		c.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		body = body[:len(body)/2]
	}
	c.w.WriteHeader(c.answer.Code)
	_, _ = c.w.Write(body) // nobody may be listening any more
}

// send answers a body.
func (c *call) send(status int, body any) {
	c.noted.Status = status
	if body == nil {
		c.answer.WriteHeader(status)
		return
	}
	c.answer.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.answer.WriteHeader(status)
	_, _ = c.answer.Write(encode(body)) // a recorder takes everything
}

// refuse answers an error.
func (c *call) refuse(status int, code, target, message string) {
	inner := map[string]any{"code": code, "message": message}
	if target != "" {
		inner["target"] = target
	}
	c.noted.Code = code
	c.send(status, map[string]any{"error": inner})
}
