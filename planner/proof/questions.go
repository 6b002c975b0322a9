package proof

import (
	"maps"
	"slices"

	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/trace"
)

// A Question is a request over one side whose answer was looked at to decide about integrations
// of which something is left out, or which are divided into shards. Somebody else can be asked the same, to hold the
// engine to it.
type Question struct {
	Side    trace.Side // Base or Head
	Name    string     // of the query: its file, or what a trace calls it; "" of a native integration
	Request gql.Request
	// Elements tells that the answer has errors, so that the elements of its root fields were also
	// looked at one by one.
	Elements     bool
	Integrations []string // that rest on the answer, sorted
}

// questions are the questions of a replay, by side and request.
type questions struct {
	of  string // the integration that is replayed
	all map[string]*Question
}

// note notes that the integration that is replayed rests on an answer.
func (q *questions) note(of trace.Side, name string, req gql.Request, elements bool) {
	key := string(of) + " " + string(req.JSON())
	known := q.all[key]
	if known == nil {
		known = &Question{Side: of, Name: name, Request: req}
		q.all[key] = known
	}
	known.Elements = known.Elements || elements
	if n := len(known.Integrations); n == 0 || known.Integrations[n-1] != q.of {
		known.Integrations = append(known.Integrations, q.of)
	}
}

// about returns the questions on which some integrations rest, base before head.
func (q *questions) about(names []string) []Question {
	var out []Question
	for _, key := range slices.Sorted(maps.Keys(q.all)) {
		asked := *q.all[key]
		asked.Integrations = slices.DeleteFunc(slices.Clone(asked.Integrations), func(name string) bool {
			return !slices.Contains(names, name)
		})
		if len(asked.Integrations) > 0 {
			out = append(out, asked)
		}
	}
	return out
}

// nameOf returns the name of a side.
func (c *prover) nameOf(s *side) trace.Side {
	if s == c.head {
		return trace.Head
	}
	return trace.Base
}
