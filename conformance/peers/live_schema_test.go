package peers

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Values are valid by schemas as for python-jsonschema: all keywords, numbers in all ways of writing them.
func TestLiveSchema(t *testing.T) {
	shared.Ask(t, shared.Live{Name: "schema", Peer: "jsonschema 4.26.0", Cases: 3000,
		Command: []string{"python3", "testdata/jsonschema_judge.py"}, Same: isValid,
		Input: func(r *rand.Rand) any {
			m := maker{r}
			return map[string]any{"schema": m.schema(0), "value": m.value(0)}
		}})
}

// value returns a value of JSON.
func (m maker) value(depth int) any {
	switch k := m.IntN(10); {
	case k < 3 && depth < 3:
		out := map[string]any{}
		for range m.IntN(4) {
			out[m.name()] = m.value(depth + 1)
		}
		return out
	case k < 5 && depth < 3:
		out := make([]any, m.IntN(4))
		for i := range out {
			out[i] = m.value(depth + 1)
		}
		return out
	case k < 8:
		return m.number()
	}
	return one[any](m, "", "a", "ab", "abc", "é", "a\nb", "a\n", "\u00a0", "a b", "7", "😀", true, false, nil)
}

func (m maker) name() string { return one(m, "a", "b", "ab", "c-d", "é") }

// schema returns a schema that is valid itself, with some keywords.
func (m maker) schema(depth int) any {
	if depth > 0 && m.isOften(4) {
		return m.isOften(70)
	}
	out := map[string]any{}
	for range 1 + m.IntN(3) {
		m.keyword(out, depth)
	}
	return out
}

func (m maker) keyword(into map[string]any, depth int) {
	if depth > 2 || m.isOften(60) {
		m.plainKeyword(into)
		return
	}
	sub := func() any { return m.schema(depth + 1) }
	subs := func() any {
		out := make([]any, 1+m.IntN(3))
		for i := range out {
			out[i] = sub()
		}
		return out
	}
	byName := func(name func() string) any { return map[string]any{name(): sub(), name(): sub()} }
	switch word := one(m, "items", "items", "additionalItems", "contains", "properties", "properties", "patternProperties",
		"additionalProperties",
		"dependencies", "propertyNames", "allOf", "anyOf", "oneOf", "not"); word {
	case "properties":
		into[word] = byName(m.name)
	case "patternProperties":
		into[word] = byName(m.pattern)
	case "dependencies":
		needs := func() any { return one(m, sub(), any([]string{m.name()})) }
		into[word] = map[string]any{m.name(): needs(), m.name(): needs()}
	case "allOf", "anyOf", "oneOf":
		into[word] = subs()
	case "items":
		into[word] = one(m, sub(), subs())
	default:
		into[word] = sub()
	}
}

func (m maker) pattern() string {
	return one(m, "^a", "b$", "[ab]", "^[a-c]+$", "", "^.$", `\d`, "a|é", "^$", "a{2}", "(a)(b)?", `^\w+$`, `\W`, `\s`,
		`^\S*$`, `[^a]`,
		`^a(?!b)`, `\bab`, "(?i)AB", "^(a|b)*$", `\.`, `^[\w-]+$`, `\Aa`, `b\Z`)
}

func (m maker) plainKeyword(into map[string]any) {
	switch word := one(m, "type", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf",
		"minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "required", "minProperties",
		"maxProperties"); word {
	case "type":
		kinds := []string{"string", "number", "integer", "object", "array", "boolean", "null"}
		m.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		if into[word] = kinds[0]; m.isOften(30) {
			into[word] = kinds[:2]
		}
	case "enum":
		into[word] = []any{m.value(2), "x", json.Number("77")}
	case "const":
		into[word] = m.value(1)
	case "multipleOf":
		into[word] = one[json.Number](m, "1", "2", "0.1", "0.01", "1.5", "3", "2.0", "1e1")
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		into[word] = m.number()
	case "pattern":
		into[word] = m.pattern()
	case "uniqueItems":
		into[word] = m.isOften(80)
	case "required":
		into[word] = []string{m.name()}
	default:
		into[word] = m.IntN(4)
	}
}
