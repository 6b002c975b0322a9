package rounds

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// changes returns the fields of a step that differ as they can be shown: bounded, and masked inside of values too.
func (c *collector) changes(all []plan.FieldChange) []plan.FieldChange {
	var out []plan.FieldChange
	for _, f := range all[:min(len(all), plan.MaxFieldChanges)] {
		shown := plan.FieldChange{Path: c.clean(f.Path), Reason: c.clean(f.Reason), Secret: f.Secret}
		if !f.Secret {
			shown.Old, shown.New = c.value(f.Old), c.value(f.New)
		}
		out = append(out, shown)
	}
	return out
}

// value returns a value as it can be shown, nil for none. One that is too long is a text with its beginning.
func (c *collector) value(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var v any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	if len(raw) > maxRaw || in.Decode(&v) != nil {
		return encoded(c.clean(string(raw)))
	}
	out := encoded(c.maskedValue(v))
	if text := c.masker.Text(string(out)); text != string(out) || len(out) > plan.MaxFieldValue {
		return encoded(phrase.Cut(c.clean(text), plan.MaxFieldValue))
	}
	return out
}

// maskedValue returns a value whose texts, names and numbers are masked.
func (c *collector) maskedValue(v any) any {
	switch v := v.(type) {
	case string:
		return c.masker.Text(v)
	case json.Number:
		if text := c.masker.Text(v.String()); text != v.String() {
			return text
		}
	case []any:
		for i := range v {
			v[i] = c.maskedValue(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[c.masker.Text(name)] = c.maskedValue(value)
		}
		return out
	}
	return v
}

// encoded returns a value as JSON.
func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`"?"`) // it was decoded from JSON
	}
	return raw
}

// lines returns the fields of a step that differ for people, a line for each.
func (s Step) lines() string {
	out := ""
	for _, f := range s.Changes {
		change := fmt.Sprintf("%s -> %s", orNone(f.Old), orNone(f.New))
		if f.Secret {
			change = "a secret, not shown"
		}
		if f.Reason != "" {
			change += " (" + f.Reason + ")"
		}
		out += fmt.Sprintf("    %s: %s\n", f.Path, change)
	}
	return out
}

// orNone returns a value as text, or the word for none.
func orNone(raw json.RawMessage) string {
	if raw == nil {
		return "none"
	}
	return string(raw)
}
