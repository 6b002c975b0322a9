package recording

import (
	"sync"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

// A Recording holds the queries that the tasks of one run send. Several goroutines may
// use it at once.
type Recording struct {
	// Mask replaces the secrets in a text. A trace that contains a secret is not saved.
	Mask func(text string) string
	// Files returns what a task read of the files of its side; nil: that is not known.
	Files func(task string) files.ID

	base, head string // sha256 of the bundles

	mu       sync.Mutex
	depends  map[string]dependence.Beyond // by task: what all its answers depend on
	attempts map[string][]*trace.Recorder // for each task one per attempt; nil until the attempt sends a query
}

// New returns an empty recording for a run over the bundles with these sha256.
func New(base, head string) *Recording {
	return &Recording{
		Mask: func(text string) string { return text },
		base: base, head: head, depends: map[string]dependence.Beyond{}, attempts: map[string][]*trace.Recorder{},
	}
}

// StartAttempt begins to record a new attempt of a task. It returns the observer for
// the server of this attempt.
func (r *Recording) StartAttempt(task string) func(server.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempt := len(r.attempts[task])
	r.attempts[task] = append(r.attempts[task], nil)
	return func(x server.Exchange) {
		r.noteDependence(task, x)
		Observer(r.recorder(task, attempt))(x)
	}
}

// recorder returns the recorder of an attempt. It creates the recorder when it is first
// needed: most tasks of a large plan may send nothing, and a recorder takes more memory
// than everything else that is kept of such a task.
func (r *Recording) recorder(task string, attempt int) *trace.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	recorder := &r.attempts[task][attempt]
	if *recorder == nil {
		*recorder = trace.NewRecorder(r.base, r.head)
	}
	return *recorder
}

// Observer returns a function that passes the exchanges of a server to a recorder.
func Observer(recorder *trace.Recorder) func(server.Exchange) {
	return func(x server.Exchange) {
		recorder.Note(trace.Exchange{
			Path: x.Path, SHA256: x.SHA256, Request: x.Request, Response: x.Response, Status: x.Status, Cut: x.Aborted,
			Body: x.Body,
		})
	}
}

// LastTrace returns the trace of the last attempt of a task, nil if the task never
// started.
func (r *Recording) LastTrace(t plan.Task, at time.Time) *trace.Trace {
	traces := r.traces(t, at)
	if len(traces) == 0 {
		return nil
	}
	return traces[len(traces)-1]
}

// traces returns the trace of each attempt of a task. The trace of an attempt that sent
// no query is empty.
func (r *Recording) traces(t plan.Task, at time.Time) []*trace.Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	var traces []*trace.Trace
	for _, recorder := range r.attempts[t.ID] {
		if recorder == nil {
			recorder = trace.NewRecorder(r.base, r.head)
		}
		traces = append(traces,
			recorder.Trace(trace.TaskKey{Integration: t.Integration, Command: t.Command, Shard: t.Label()}, at))
	}
	return traces
}
