package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// Bounds of what is recorded of one task.
const (
	maxRequests = 20_000
	maxText     = 16 << 20 // bytes of all queries and variables
)

// A Recorder notes what one task asks. Several goroutines may use it at once.
type Recorder struct {
	base, head string

	mu         sync.Mutex
	unprovable string
	answers    map[string]Request // by question
	text       int
	schemas    map[bundle.Schema]bool
	datafiles  map[bundle.Path]bool
	resources  map[bundle.Path]bool
	fields     map[bundle.Schema]map[string]bool
}

// NewRecorder returns a recorder for a task that runs over the bundles with
// these sha256. Without a change they are the same.
func NewRecorder(base, head string) *Recorder {
	return &Recorder{
		base: base, head: head,
		answers:   map[string]Request{},
		schemas:   map[bundle.Schema]bool{},
		datafiles: map[bundle.Path]bool{},
		resources: map[bundle.Path]bool{},
		fields:    map[bundle.Schema]map[string]bool{},
	}
}

// An Exchange is a request of a task with its answer.
type Exchange struct {
	Path     string        // of the address
	SHA256   string        // of the bundle that was asked
	Request  *gql.Request  // nil when it was no GraphQL request
	Response *gql.Response // nil unless it was executed
	Status   int
	Cut      bool // the answer says that the request ended, and nothing of the bundle
	Body     []byte
}

// Note records an exchange.
func (r *Recorder) Note(x Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	side := Head
	switch {
	case x.Request == nil:
		if !names(x.Path) {
			r.doubt("it asked %s, which a trace does not cover", x.Path)
		}
		return
	case x.Cut || x.Status >= 500:
		r.doubt("it was not answered when it asked for %s", x.Path)
		return
	case x.SHA256 == r.head && r.base == r.head && !latest(x.Path):
		side = Either
	case x.SHA256 == r.head:
	case x.SHA256 == r.base:
		side = Base
	default:
		r.doubt("it asked a bundle that is not one of the change")
		r.read(x.Response)
		return
	}
	q := Request{Side: side, Query: x.Request.Query, Operation: x.Request.Operation, EmptyName: x.Request.EmptyName, Answer: Answer(x.Status, x.Body)}
	if x.Request.Variables != nil {
		q.Variables = bundle.AppendCanonical(nil, x.Request.Variables)
	}
	r.ask(q)
	r.read(x.Response)
}

// names tells whether an address only names the bundle.
func names(path string) bool {
	return slices.Contains([]string{"sha256", "git-commit", "git-commit-info", "healthz"}, first(path))
}

// latest tells whether an address is that of the latest bundle, which is head.
func latest(path string) bool { return first(path) == "graphql" }

func first(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return name
}

func (r *Recorder) doubt(format string, args ...any) {
	if r.unprovable == "" {
		r.unprovable = fmt.Sprintf(format, args...)
	}
}

func (r *Recorder) ask(q Request) {
	key := q.question()
	old, again := r.answers[key]
	switch {
	case again && old.Answer != q.Answer:
		r.doubt("it was answered in two ways to %q", q.Name())
	case again:
	case len(r.answers) == maxRequests || r.text+len(key) > maxText:
		r.doubt("it asked more than a trace holds")
	default:
		r.answers[key] = q
		r.text += len(key)
	}
}

// read notes what an answer was made from, if there is one.
func (r *Recorder) read(res *gql.Response) {
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

// Trace returns what was recorded so far.
func (r *Recorder) Trace(of Subject, at time.Time) *Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Trace{
		Version: Version, Subject: of, Recorded: at.UTC().Truncate(time.Second), Base: r.base, Head: r.head,
		Unprovable: r.unprovable, Requests: []Request{},
		Observed: Observed{
			Schemas:   slices.Sorted(maps.Keys(r.schemas)),
			Datafiles: slices.Sorted(maps.Keys(r.datafiles)),
			Resources: slices.Sorted(maps.Keys(r.resources)),
			Fields:    map[bundle.Schema][]string{},
		},
	}
	for schema, fields := range r.fields {
		t.Fields[schema] = slices.Sorted(maps.Keys(fields))
	}
	for _, key := range slices.Sorted(maps.Keys(r.answers)) {
		t.Requests = append(t.Requests, r.answers[key])
	}
	if len(t.Requests) == 0 && t.Unprovable == "" {
		t.Unprovable = nothingAsked
	}
	t.Digest = t.digest()
	return t
}
