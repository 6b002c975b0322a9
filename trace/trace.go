package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// Version names the format of a trace, and with it the engine that answered: it
// changes also when the engine answers anything otherwise than before. A trace
// of another version is ignored.
const Version = "prcheck-trace/v1"

// A Side is the bundle that a request is for.
type Side string

// The sides of a change. Either is a bundle that was asked for by its sha256
// while base and head were the same: next time it may be one or the other.
const (
	Base   Side = "base"
	Head   Side = "head"
	Either Side = "either"
)

// both returns the sides that must answer as recorded.
func (s Side) both() []Side {
	if s == Either {
		return []Side{Base, Head}
	}
	return []Side{s}
}

// A Subject is what a trace speaks for. Command is a digest of all that decides
// how the task is started; Shard is "" for the whole integration.
type Subject struct {
	Integration string `json:"integration"`
	Command     string `json:"command"`
	Shard       string `json:"shard,omitempty"`
}

// A Trace is what one task asked while it passed.
type Trace struct {
	Version string `json:"version"`
	Digest  string `json:"digest"` // "sha256:…" of everything else but Recorded
	Subject
	Recorded   time.Time `json:"recorded"`
	Base       string    `json:"base"` // sha256 of the bundles it ran over
	Head       string    `json:"head"`
	Unprovable string    `json:"unprovable,omitempty"` // why it proves nothing
	Requests   []Request `json:"requests"`             // without repetition, sorted
	Observed
}

// Observed is what was read of the bundles, all requests together.
type Observed struct {
	Schemas   []bundle.Schema            `json:"schemas"`   // of datafiles
	Datafiles []bundle.Path              `json:"datafiles"` //
	Resources []bundle.Path              `json:"resources"` //
	Fields    map[bundle.Schema][]string `json:"fields"`    // top-level fields of datafiles
}

// A Request is one question and what it was answered.
type Request struct {
	Side      Side            `json:"side"`
	Query     string          `json:"query"`
	Operation string          `json:"operation,omitempty"`
	EmptyName bool            `json:"empty_name,omitempty"` // the operation is named, by nothing
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
func (r Request) GraphQL() (gql.Request, error) {
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

// Name returns a short name for the request: its operation, or the beginning of
// its text.
func (r Request) Name() string {
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

// Doubt says why the trace proves nothing, whatever is answered now; "" when it
// can prove something.
func (t *Trace) Doubt() string {
	if t.Unprovable == "" && len(t.Requests) == 0 {
		return nothingAsked
	}
	return t.Unprovable
}

// Proves tells whether the program would see again what it saw when it passed:
// "" when it would, otherwise why that is not proven. answer returns the digest
// of the answer that a side gives now; its errors are doubts.
func (t *Trace) Proves(answer func(Side, gql.Request) (string, error)) string {
	if why := t.Doubt(); why != "" {
		return why
	}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return err.Error()
		}
		for _, side := range r.Side.both() {
			now, err := answer(side, req)
			switch {
			case err != nil:
				return err.Error()
			case now != r.Answer:
				return fmt.Sprintf("%s answers %q otherwise than when it was recorded", side, r.Name())
			}
		}
	}
	return ""
}

const nothingAsked = "nothing was asked while it was recorded"

// Asks tells whether both traces hold the same questions, whatever the answers
// and whichever side they were for:
// "" when they do, otherwise the first one that only one of them has. When other
// is partial, of a task that did not get to its end, it need not hold all.
func (t *Trace) Asks(other *Trace, partial bool) string {
	known, asked := map[string]bool{}, map[string]bool{}
	for _, r := range t.Requests {
		known[r.words()] = true
	}
	for _, r := range other.Requests {
		if !known[r.words()] {
			return fmt.Sprintf("it asked %q, which it did not before", r.Name())
		}
		asked[r.words()] = true
	}
	if partial {
		return ""
	}
	for _, r := range t.Requests {
		if !asked[r.words()] {
			return fmt.Sprintf("it did not ask %q, which it did before", r.Name())
		}
	}
	return ""
}

// words is a request without its side and answer.
func (r Request) words() string {
	r.Side = ""
	return r.question()
}

// question is all of a request but its answer.
func (r Request) question() string {
	r.Answer = ""
	raw, err := json.Marshal(r)
	if err != nil { // only of variables that are no JSON
		return fmt.Sprintf("%+v", r)
	}
	return string(raw)
}
