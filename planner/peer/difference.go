package peer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/trace"
)

// Lengths of what is shown, in characters.
const (
	maxText = 300
	maxKey  = 60
)

// A Difference is an answer of the server that is not ours.
type Difference struct {
	Side         trace.Side `json:"side"`
	Query        string     `json:"query"`          // its file, or what a trace calls it, or its text
	File         string     `json:"file,omitempty"` // the only one that was asked for
	Text         string     `json:"text"`           // the beginning of what was asked
	Place        string     `json:"place"`          // in the answer
	Says         string     `json:"says"`           // what stands there, without the values
	Integrations []string   `json:"integrations"`   // that rest on the answer
}

// newDifference finds the first place at which two answers differ.
func newDifference(q proof.Question, file string, req gql.Request, ours, theirs live.Reply) Difference {
	d := Difference{Side: q.Side, Query: q.Name, File: file, Text: shortened(req.Query, maxText),
		Integrations: q.Integrations}
	if d.Query == "" {
		d.Query = shortened(req.Query, maxKey)
	}
	d.Place, d.Says = "the body", "the server writes the same values in another way"
	if ours.Status != theirs.Status {
		d.Place, d.Says = "the status", fmt.Sprintf("prcheck has %d, the server %d", ours.Status, theirs.Status)
		return d
	}
	mine, err := bundle.ParseValue(ours.Body)
	if err != nil { // our own answers are JSON
		return d
	}
	other, err := bundle.ParseValue(theirs.Body)
	if err != nil { // [live.BundleClient.Ask] has read it
		return d
	}
	if place, says := differs(mine, other, ""); says != "" {
		d.Place, d.Says = strings.TrimPrefix(place, "."), says
	}
	return d
}

// Sentence says what differs.
func (d Difference) Sentence() string {
	query := d.Query
	if d.File != "" {
		query += " for " + d.File
	}
	return fmt.Sprintf("the server answers %s on %s otherwise, at %s: %s", query, d.Side, d.Place, d.Says)
}

// shortened returns the beginning of a text on one line.
func shortened(text string, most int) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most]) + "…"
}

// differs returns the first place at which two values differ, and how; says is "" when they do not.
func differs(mine, other any, at string) (place, says string) {
	switch m := mine.(type) {
	case *bundle.Object:
		if o, ok := other.(*bundle.Object); ok && o != nil && m != nil {
			return objectsDiffer(m, o, at)
		}
	case []any:
		if o, ok := other.([]any); ok {
			return listsDiffer(m, o, at)
		}
	}
	switch before, after := kind(mine), kind(other); {
	case before != after:
		return at, fmt.Sprintf("prcheck has %s, the server %s", before, after)
	case mine != other:
		return at, "both have " + before + ", not the same"
	}
	return "", ""
}

func objectsDiffer(mine, other *bundle.Object, at string) (place, says string) {
	was, is := mine.Members(), other.Members()
	for i, m := range was {
		switch {
		case i >= len(is) || is[i].Key != m.Key && !other.Has(m.Key):
			return at + "." + shortened(m.Key, maxKey), "the server leaves it out"
		case is[i].Key != m.Key && mine.Has(is[i].Key):
			return at, "the keys have another order"
		case is[i].Key != m.Key:
			return at + "." + shortened(is[i].Key, maxKey), "only the server has it"
		}
		if place, says = differs(m.Value, is[i].Value, at+"."+shortened(m.Key, maxKey)); says != "" {
			return place, says
		}
	}
	if len(is) > len(was) {
		return at + "." + shortened(is[len(was)].Key, maxKey), "only the server has it"
	}
	return "", ""
}

func listsDiffer(mine, other []any, at string) (place, says string) {
	for i := range min(len(mine), len(other)) {
		if place, says = differs(mine[i], other[i], at+"["+strconv.Itoa(i)+"]"); says != "" {
			break
		}
	}
	if len(mine) != len(other) {
		if says == "" {
			place = at
		}
		return place, fmt.Sprintf("prcheck has %d items, the server %d", len(mine), len(other))
	}
	return place, says
}

// kind names a value without telling it.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case bundle.Number:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
}
