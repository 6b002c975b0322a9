package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// Bounds of what is shown of one effect, where nobody asks for more.
const (
	maxShownFields = 3  // fields
	maxShownPlaces = 2  // places of the data
	maxValueShown  = 60 // bytes of a value
)

// Places returns the places of the data that lead to the effect, such as "data/cloud/rule.yml:8", "" if none is known.
func (g EffectGroup) Places() string { return g.places(func(text string) string { return text }) }

// places is Places with each place as show returns it.
func (g EffectGroup) places(show func(string) string) string {
	var out []string
	for _, at := range g.Cause[:min(len(g.Cause), maxShownPlaces)] {
		out = append(out, show(at.Where()))
	}
	if more := len(g.Cause) + g.CauseBeyond - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// Fields returns how the fields of the thing change, one line each, and how many more do.
func (g EffectGroup) Fields(most int) []string {
	var out []string
	for _, c := range g.Changes[:min(len(g.Changes), most)] {
		out = append(out, strings.TrimPrefix(c.Path+": "+describeValues(c), ": "))
	}
	if more := len(g.Changes) + g.ChangesBeyond - len(out); more > 0 {
		out = append(out, "and "+phrase.Count(more, "more field"))
	}
	return out
}

// describeValues returns what a value becomes, such as "1 → 2".
func describeValues(c plan.FieldChange) string {
	switch {
	case c.Secret:
		return "a secret, not shown"
	case c.Old == nil && c.New == nil:
		return cleanLine(c.Reason)
	}
	return showValue(c.Old) + " → " + showValue(c.New)
}

// showValue returns a value for people: a text that cannot be taken for another value as it is, "none" for none.
func showValue(raw json.RawMessage) string {
	if raw == nil {
		return "none"
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return "?"
	}
	text := compact.String()
	var plain string
	if json.Unmarshal(raw, &plain) == nil && strings.TrimSpace(plain) == plain && plain != "" && plain != "none" &&
		!json.Valid([]byte(plain)) {
		text = plain
	}
	return phrase.Cut(cleanLine(text), maxValueShown)
}

// writeGroups writes one row for each effect, and below it what changes.
func (t *text) writeGroups(groups []EffectGroup) {
	var rows table
	for _, g := range groups {
		rows = append(rows, []cell{{text: cleanLine(string(g.Kind)), color: kindColor(g)}, {text: cleanLine(g.Where())},
			{text: cleanLine(g.What()), color: kindColor(g)},
			{text: cleanLine(joinNonEmpty(", ", g.Places(), g.Remarks())), color: faint}})
		most := maxShownFields
		if t.style.Verbose {
			most = len(g.Changes)
		}
		for _, line := range g.Fields(most) {
			rows = append(rows, []cell{{text: "    " + cleanLine(line)}})
		}
	}
	rows.writeTo(&t.out, t.style, "  ")
}

// joinNonEmpty joins texts that are not empty.
func joinNonEmpty(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}
