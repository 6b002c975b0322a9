package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A wrong is a mistake of a value itself.
type wrong struct {
	code     plan.FindingCode
	severity plan.Severity
	text     string
}

// wrongs returns what is wrong with a value itself. One schema that takes it is enough.
func (t *Checker) wrongs(v any, rule rules.Rule, schemas []*openapi.Schema, near *nearNames) ([]wrong, error) {
	var first []wrong
	for i, s := range schemas {
		found, err := t.against(v, rule, s, near)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		if i == 0 {
			first = found
		}
	}
	return first, nil
}

// against checks a value against one schema.
func (t *Checker) against(v any, rule rules.Rule, s *openapi.Schema, near *nearNames) ([]wrong, error) {
	want, err := typesOf(s, rule)
	if err != nil {
		return nil, err
	}
	if got := typeOf(v); len(want) > 0 && !slices.Contains(want, got) &&
		!(got == "integer" && slices.Contains(want, "number")) {
		return []wrong{{reconcile.CodeType, plan.SeverityError, fmt.Sprintf("it is %s and must be %s", article(got),
			article(want...))}}, nil
	}
	var found []wrong
	text, severity, err := t.enum(v, rule, s, near)
	if err != nil {
		return nil, err
	}
	if text != "" {
		found = append(found, wrong{CodeEnum, severity, text})
	}
	if text, severity, err = t.pattern(v, s); err != nil {
		return nil, err
	}
	if text != "" {
		found = append(found, wrong{CodePattern, severity, text})
	}
	far, err := outside(v, rule, s)
	return append(found, far...), err
}

// typesOf returns the types that a value may have, none if any.
func typesOf(s *openapi.Schema, rule rules.Rule) ([]string, error) {
	at, err := s.Keyword("type")
	if err != nil || at.Value == nil {
		return nil, err
	}
	types := at.Value.Strings()
	if name := at.Value.Text(); name != "" {
		types = []string{name}
	}
	if rule.Format == "int-or-string" || rule.Format == "quantity" {
		return []string{"string", "integer", "number"}, nil
	}
	for _, name := range types { // Swagger's file, and words that nobody knows
		if !slices.Contains([]string{"string", "integer", "number", "boolean", "object", "array", "null"}, name) {
			return nil, nil
		}
	}
	return types, nil
}

// typeOf returns the type of a value.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if isWhole(v.String()) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// isWhole reports whether the literal of a number has no fraction: 1, 1.0 and 1e3, but not 0.5
// and not 1e-3. A number is never computed, for its exponent may be very large.
func isWhole(number string) bool {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	fraction = strings.TrimRight(fraction, "0")
	if !hasExponent {
		return fraction == ""
	}
	n := 0
	for _, c := range strings.TrimLeft(exponent, "+-") {
		if n = n*10 + int(c-'0'); n > 1<<20 {
			break
		}
	}
	if strings.HasPrefix(exponent, "-") {
		digits := strings.TrimLeft(strings.TrimPrefix(whole, "-"), "0")
		return fraction == "" && n <= len(digits)-len(strings.TrimRight(digits, "0")) || fraction == "" && digits == ""
	}
	return len(fraction) <= n
}

func article(types ...string) string {
	words := map[string]string{"string": "a string", "integer": "a whole number", "number": "a number",
		"boolean": "true or false",
		"object":  "an object", "array": "a list", "null": "null"}
	var out []string
	for _, t := range types {
		if t != "null" || len(types) == 1 {
			out = append(out, words[t])
		}
	}
	return strings.Join(out, " or ")
}

// An enumeration is the values that an enum allows.
type enumeration struct {
	texts  []string        // the texts among them
	others map[string]bool // the JSON of the others
	words  []string        // all, as a message names them
}

// enumerationOf reads an enum.
func (t *Checker) enumerationOf(enum *openapi.Value) (*enumeration, error) {
	if e := t.enums[enum]; e != nil {
		return e, nil
	}
	e := &enumeration{others: map[string]bool{}}
	for _, allowed := range enum.Items() {
		raw, err := allowed.MarshalJSON()
		if err != nil {
			return nil, err
		}
		word := allowed.Text()
		if allowed.Kind == openapi.String {
			e.texts = append(e.texts, word)
		} else {
			e.others[string(raw)] = true
		}
		e.words = append(e.words, cmp.Or(word, string(raw)))
	}
	if t.enums == nil {
		t.enums = map[*openapi.Value]*enumeration{}
	}
	t.enums[enum] = e
	return e, nil
}

// enum checks that a value is among those that are allowed.
func (t *Checker) enum(v any, rule rules.Rule, s *openapi.Schema, near *nearNames) (string, plan.Severity, error) {
	at, err := s.Keyword("enum")
	if err != nil || at.Value == nil || !isLeaf(v) {
		return "", "", err
	}
	e, err := t.enumerationOf(at.Value)
	if err != nil {
		return "", "", err
	}
	text, isText := v.(string)
	isFolded := isText && rule.Format == "enum-fold"
	if isText && slices.Contains(e.texts, text) || !isText && e.others[fmt.Sprint(v)] ||
		isFolded && slices.ContainsFunc(e.texts, func(word string) bool { return strings.EqualFold(word, text) }) {
		return "", "", nil
	}
	message := "it must be " + list(e.words)
	if word := near.find(fmt.Sprint(v), e.words); word != "" {
		message = fmt.Sprintf("it is none of the allowed values; do you mean %q?", word)
	}
	open, err := s.Keyword("x-ms-enum")
	if err != nil {
		return "", "", err
	}
	if open.Value.Get("modelAsString").Is() {
		return message + "; the specification says that there may be others", plan.SeverityWarning, nil
	}
	return message, plan.SeverityError, nil
}

// The bounds of a regular expression, in bytes.
const (
	maxPattern  = 1000
	maxText     = 64 << 10
	maxPatterns = 1000
)

// pattern checks the form of a text.
func (t *Checker) pattern(v any, s *openapi.Schema) (string, plan.Severity, error) {
	at, err := s.Keyword("pattern")
	text, isText := v.(string)
	source := at.Value.Text()
	if err != nil || source == "" || !isText {
		return "", "", err
	}
	re := t.compile(source)
	switch {
	case re == nil || len(text) > maxText:
		return fmt.Sprintf("the pattern %q of the specification cannot be checked", phrase.Cut(source, maxQuoted)),
			plan.SeverityNote, nil
	case !re.MatchString(text):
		return fmt.Sprintf("it must match %q", phrase.Cut(source, maxQuoted)), plan.SeverityError, nil
	}
	return "", "", nil
}

// compile returns a regular expression, nil if RE2 cannot read it.
func (t *Checker) compile(source string) *regexp.Regexp {
	if re, ok := t.patterns[source]; ok {
		return re
	}
	var re *regexp.Regexp
	if len(source) <= maxPattern {
		re, _ = regexp.Compile(source) // nil means: cannot be read
	}
	if t.patterns == nil || len(t.patterns) >= maxPatterns {
		t.patterns = map[string]*regexp.Regexp{}
	}
	t.patterns[source] = re
	return re
}
