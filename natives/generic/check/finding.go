package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/plan"
)

// The codes of what a change would do. They are a contract with programs.
const (
	CodeCreateOnly         plan.FindingCode = "CREATE_ONLY"
	CodeCreateOnlyInferred plan.FindingCode = "CREATE_ONLY_INFERRED"
	CodeReplace            plan.FindingCode = "REPLACE"       // delete and create, as the entry allows
	CodeVersion            plan.FindingCode = "API_VERSION"   // the type has another version
	CodeRules              plan.FindingCode = "RULES_CHANGED" // the change edits what it is checked by
	CodeIgnored            plan.FindingCode = "IGNORED"       // the change edits what its entry ignores
	CodeFirstSet           plan.FindingCode = "FIRST_SET"     // the data set what stays once it is there
	CodeTarget             plan.FindingCode = "NEW_TARGET"    // the change alters how resources are reached
)

// A Finding is a mistake of a change, or what it would do.
type Finding struct {
	plan.Finding
	Resource string `json:"resource,omitempty"`
	// Property is the JSON pointer to the property in the body, or to the field of the entry. Items
	// of lists are named by their keys.
	Property string `json:"path"`
	// From and To are the values of base and head, nil if there is none or it is not shown.
	From any `json:"from,omitempty"`
	To   any `json:"to,omitempty"`

	hasChange bool // From and To are a change
}

// Name returns the property as people write it, with dots.
func (f Finding) Name() string {
	var out strings.Builder
	for i, part := range jsonpointer.Split(f.Property) {
		switch {
		case strings.ContainsAny(part, "=.") || part != "" && part[0] >= '0' && part[0] <= '9':
			out.WriteString("[" + part + "]")
		case i > 0:
			out.WriteString("." + part)
		default:
			out.WriteString(part)
		}
	}
	return out.String()
}

// Change returns "westus → eastus", "" if the finding is about no change.
func (f Finding) Change() string {
	if !f.hasChange {
		return ""
	}
	return show(f.From) + " → " + show(f.To)
}

// maxShown is how many bytes of a value are shown.
const maxShown = 80

func show(v any) string {
	text, isText := v.(string)
	switch {
	case v == nil:
		return "(none)"
	case !isText:
		text = body.Text(v)
	case text == "" || strings.TrimSpace(text) != text:
		text = fmt.Sprintf("%q", text)
	}
	return phrase.Cut(text, maxShown)
}

// Sentence returns the finding in one line, without its code and place.
func (f Finding) Sentence() string {
	var words []string
	for _, word := range []string{f.Name(), f.Change()} {
		if word != "" {
			words = append(words, word)
		}
	}
	text := strings.Join(words, ": ")
	if text != "" {
		text += ": "
	}
	return text + f.Message
}

// Reported returns the finding as natives report it.
func (f Finding) Reported() plan.Finding {
	text := f.Sentence()
	if f.Resource != "" {
		text = f.Resource + ": " + text
	}
	if runes := []rune(text); len(runes) > plan.MaxFindingMessage {
		text = string(runes[:plan.MaxFindingMessage-1]) + "…"
	}
	out := f.Finding
	out.Line, out.Message = 0, text
	return out
}

// MarshalJSON writes a change with both of its values, also those that are none.
func (f Finding) MarshalJSON() ([]byte, error) {
	type plain Finding
	if !f.hasChange {
		return json.Marshal(plain(f))
	}
	return json.Marshal(struct {
		plain
		From any `json:"from"`
		To   any `json:"to"`
	}{plain(f), f.From, f.To})
}
