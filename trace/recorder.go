package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// The bounds of one trace.
const (
	maxRequests = 20_000
	maxText     = 16 << 20 // bytes of all queries and variables
)

// A Recorder records the requests of one task. Several goroutines may use it at once.
type Recorder struct {
	base, head string // sha256 of the bundles

	mu         sync.Mutex
	unprovable string                     // why the trace proves nothing
	requests   map[string]RecordedRequest // by question
	text       int                        // the size of all questions, in bytes
	schemas    map[bundle.SchemaPath]bool
	datafiles  map[bundle.Path]bool
	resources  map[bundle.Path]bool
	fields     map[bundle.SchemaPath]map[string]bool
}

// NewRecorder returns a recorder for a task that runs over the bundles with these sha256.
// They may be the same.
func NewRecorder(base, head string) *Recorder {
	return &Recorder{
		base: base, head: head,
		requests:  map[string]RecordedRequest{},
		schemas:   map[bundle.SchemaPath]bool{},
		datafiles: map[bundle.Path]bool{},
		resources: map[bundle.Path]bool{},
		fields:    map[bundle.SchemaPath]map[string]bool{},
	}
}

// An Exchange is a request of a task with its answer.
type Exchange struct {
	Path     string        // the path of the URL
	SHA256   string        // of the bundle that answered
	Request  *gql.Request  // nil if it was not a GraphQL request
	Response *gql.Response // nil if the request was not executed
	Status   int
	Cut      bool // the request was canceled or took too long, so the answer says nothing about the bundle
	Body     []byte
}

// Note records an exchange.
func (r *Recorder) Note(x Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	side := Head
	switch {
	case x.Request == nil:
		if !namesBundle(x.Path) {
			r.doubt("it asked %s, which a trace does not cover", x.Path)
		}
		return
	case x.Cut || x.Status >= 500:
		r.doubt("it was not answered when it asked for %s", x.Path)
		return
	case x.SHA256 == r.head && r.base == r.head && !asksLatest(x.Path):
		side = Either
	case x.SHA256 == r.head:
	case x.SHA256 == r.base:
		side = Base
	default:
		r.doubt("it asked a bundle that is not one of the change")
		r.observe(x.Response)
		return
	}
	q := RecordedRequest{Side: side, Query: x.Request.Query, Operation: x.Request.Operation,
		EmptyName: x.Request.EmptyName, Answer: Answer(x.Status, x.Body)}
	if x.Request.Variables != nil {
		q.Variables = bundle.AppendOrdered(nil, x.Request.Variables) // the order of keys counts in a filter
	}
	r.add(q)
	r.observe(x.Response)
}

// namesBundle reports whether the answer at a path only says which bundle is served.
func namesBundle(path string) bool {
	return slices.Contains([]string{"sha256", "git-commit", "git-commit-info", "healthz"}, firstPart(path))
}

// asksLatest reports whether a path is that of the latest bundle, which is head.
func asksLatest(path string) bool { return firstPart(path) == "graphql" }

func firstPart(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return name
}

// doubt notes why the trace proves nothing. The first reason stays.
func (r *Recorder) doubt(format string, args ...any) {
	if r.unprovable == "" {
		r.unprovable = fmt.Sprintf(format, args...)
	}
}

// add adds a request, once. A question with two different answers makes the trace prove
// nothing.
func (r *Recorder) add(q RecordedRequest) {
	key := q.question()
	old, known := r.requests[key]
	switch {
	case known && old.Answer != q.Answer:
		r.doubt("it was answered in two ways to %q", q.Name())
	case known:
	case len(r.requests) == maxRequests || r.text+len(key) > maxText:
		r.doubt("it asked more than a trace holds")
	default:
		r.requests[key] = q
		r.text += len(key)
	}
}

// observe notes what was read of the bundle to make an answer.
func (r *Recorder) observe(res *gql.Response) {
	if res == nil {
		return
	}
	for _, s := range res.DatafileSchemas {
		r.schemas[s] = true
	}
	for _, p := range res.Datafiles {
		r.datafiles[p] = true
	}
	for _, p := range res.Resources {
		r.resources[p] = true
	}
	for schema, list := range res.Fields {
		if r.fields[schema] == nil {
			r.fields[schema] = map[string]bool{}
		}
		for _, f := range list {
			r.fields[schema][f] = true
		}
	}
}

// Trace returns the trace of the requests so far.
func (r *Recorder) Trace(of TaskKey, at time.Time) *Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Trace{
		Version: Version, TaskKey: of, Recorded: at.UTC().Truncate(time.Second), Base: r.base, Head: r.head,
		Unprovable: r.unprovable, Requests: []RecordedRequest{},
		Observed: Observed{
			Schemas:   slices.Sorted(maps.Keys(r.schemas)),
			Datafiles: slices.Sorted(maps.Keys(r.datafiles)),
			Resources: slices.Sorted(maps.Keys(r.resources)),
			Fields:    map[bundle.SchemaPath][]string{},
		},
	}
	for schema, fields := range r.fields {
		t.Fields[schema] = slices.Sorted(maps.Keys(fields))
	}
	for _, key := range slices.Sorted(maps.Keys(r.requests)) {
		t.Requests = append(t.Requests, r.requests[key])
	}
	t.Digest = t.digest()
	return t
}
