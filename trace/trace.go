package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/files"
)

// Version is the version of traces. It changes with their format, and also when the query
// engine begins to answer a query differently. A trace of another version is not used.
const Version = "prcheck-trace/v2"

// A Side says for which bundle of a change a request is.
type Side string

// The sides of a change. Either is the side of a request for a bundle by its sha256 while
// base and head were the same bundle: the next time the bundle may be base or head.
const (
	Base   Side = "base"
	Head   Side = "head"
	Either Side = "either"
)

// compared returns the sides that must give the recorded answer.
func (s Side) compared() []Side {
	if s == Either {
		return []Side{Base, Head}
	}
	return []Side{s}
}

// A TaskKey identifies the task that a trace is valid for.
type TaskKey struct {
	Integration string `json:"integration"`
	Command     string `json:"command"`         // a digest of everything that decides how the task is started
	Shard       string `json:"shard,omitempty"` // "" for the integration as a whole
}

// A Trace lists the requests of one task that passed.
type Trace struct {
	Version string `json:"version"`
	Digest  string `json:"digest"` // "sha256:…" of everything else except Recorded
	TaskKey
	Recorded   time.Time         `json:"recorded"`
	Base       string            `json:"base"` // sha256 of the bundles that the task ran over
	Head       string            `json:"head"`
	Unprovable string            `json:"unprovable,omitempty"` // why its requests prove nothing; see [Trace.Doubt]
	Requests   []RecordedRequest `json:"requests"`             // each once, sorted
	Files      files.ID          `json:"files,omitempty"`      // the files that the task read
	Observed
}

// Observed lists what all requests together read of the bundles.
type Observed struct {
	Schemas   []bundle.SchemaPath            `json:"schemas"` // of datafiles
	Datafiles []bundle.Path                  `json:"datafiles"`
	Resources []bundle.Path                  `json:"resources"`
	Fields    map[bundle.SchemaPath][]string `json:"fields"` // top-level fields of datafiles
}

// WithFiles returns the trace with the files that the task read.
func (t *Trace) WithFiles(id files.ID) *Trace {
	out := *t
	out.Files = id
	out.Digest = out.digest()
	return &out
}

// A RecordedRequest is one GraphQL request and the digest of its answer.
type RecordedRequest struct {
	Side      Side            `json:"side"`
	Query     string          `json:"query"`
	Operation string          `json:"operation,omitempty"`
	EmptyName bool            `json:"empty_name,omitempty"` // the name of the operation is given and empty
	Variables json.RawMessage `json:"variables,omitempty"`  // an object
	Answer    string          `json:"answer"`               // see [Answer]
}

// Answer returns the digest of an answer: 64 hex digits over status and body.
func Answer(status int, body []byte) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d\n", status) // never fails
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// GraphQL returns the request for the engine.
func (r RecordedRequest) GraphQL() (gql.Request, error) {
	req := gql.Request{Query: r.Query, Operation: r.Operation, EmptyName: r.EmptyName}
	if len(r.Variables) == 0 {
		return req, nil
	}
	v, err := bundle.ParseValue(r.Variables)
	if err != nil {
		return req, fmt.Errorf("reading recorded variables: %w", err)
	}
	object, ok := v.(*bundle.Object)
	if !ok {
		return req, errors.New("reading recorded variables: not an object")
	}
	req.Variables = object
	return req, nil
}

// Name returns a short name of the request: the name of its operation, or else the
// beginning of its query.
func (r RecordedRequest) Name() string {
	const long = 60
	if r.Operation != "" {
		return r.Operation
	}
	text := []rune{}
	space := false
	for _, c := range r.Query {
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			space = len(text) > 0
			continue
		}
		if space {
			text = append(text, ' ')
		}
		space = false
		if text = append(text, c); len(text) > long {
			return string(text[:long]) + "…"
		}
	}
	return string(text)
}

// Doubt returns why the trace can never prove anything, or "" if it can. A task that asked nothing depends on its files
// alone, if they were recorded.
func (t *Trace) Doubt() string {
	if t.Unprovable == "" && len(t.Requests) == 0 && !t.Files.IsRecorded() {
		return "nothing was asked while it was recorded"
	}
	return t.Unprovable
}

// Proves compares every recorded answer with the answer of today. It returns "" if all are
// the same, which proves that the program would see exactly what it saw when it passed.
// Otherwise it returns why that is not proven.
//
// The function isAnswer tells whether a side answers a request today with the answer that has
// the recorded digest. If it returns an error, nothing is proven.
func (t *Trace) Proves(isAnswer func(side Side, req gql.Request, recorded string) (bool, error)) string {
	if why := t.Doubt(); why != "" {
		return why
	}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return err.Error()
		}
		for _, side := range r.Side.compared() {
			same, err := isAnswer(side, req, r.Answer)
			switch {
			case err != nil:
				return err.Error()
			case !same:
				return fmt.Sprintf("%s answers %q otherwise than when it was recorded", side, r.Name())
			}
		}
	}
	return ""
}

// Asks compares the requests of two traces of a task, without their answers and sides. It
// returns "" if they are the same, and otherwise a sentence about the first request that
// only one trace has. If other is partial, its task did not run to its end, so requests
// may be missing from it.
func (t *Trace) Asks(other *Trace, partial bool) string {
	known, asked := map[string]bool{}, map[string]bool{}
	for _, r := range t.Requests {
		known[r.withoutSide()] = true
	}
	for _, r := range other.Requests {
		if !known[r.withoutSide()] {
			return fmt.Sprintf("it asked %q, which it did not before", r.Name())
		}
		asked[r.withoutSide()] = true
	}
	if partial {
		return ""
	}
	for _, r := range t.Requests {
		if !asked[r.withoutSide()] {
			return fmt.Sprintf("it did not ask %q, which it did before", r.Name())
		}
	}
	return ""
}

// withoutSide returns the text of a request without its side and answer.
func (r RecordedRequest) withoutSide() string {
	r.Side = ""
	return r.question()
}

// question returns the text of a request without its answer.
func (r RecordedRequest) question() string {
	r.Answer = ""
	raw, err := json.Marshal(r)
	if err != nil { // the variables are not JSON
		return fmt.Sprintf("%+v", r)
	}
	return string(raw)
}

// digest returns a digest of everything in the trace except Digest and Recorded.
func (t *Trace) digest() string {
	c := *t
	c.Digest, c.Recorded = "", time.Time{}
	raw, _ := json.Marshal(&c) // a trace that does not encode cannot be saved
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// marshal returns the trace as a document.
func (t *Trace) marshal() ([]byte, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("writing a trace: %w", err)
	}
	return append(raw, '\n'), nil
}

// kind describes the documents of traces. A document is valid only if its digest is right.
var kind = state.Kind[Trace]{Version: Version, Valid: func(t *Trace) error {
	if t.Digest != t.digest() {
		return errors.New("its digest is wrong, so it was edited or damaged")
	}
	for _, r := range t.Requests {
		if r.Side != Base && r.Side != Head && r.Side != Either || len(r.Answer) != 64 {
			return errors.New("a request in it is not whole")
		}
	}
	return nil
}}
