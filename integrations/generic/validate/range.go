package validate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/integrations/generic/body"
	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/openapi"
	"github.com/app-sre/prcheck/openapi/classes"
	"github.com/app-sre/prcheck/plan"
)

// A limit is a keyword that bounds a value.
type limit struct {
	keyword   string
	isMost    bool
	exclusive string // the keyword that excludes the limit itself: true, or in OpenAPI 3.1 a limit of its own
}

var (
	limitsOfNumbers = []limit{{"minimum", false, "exclusiveMinimum"}, {"maximum", true, "exclusiveMaximum"}}
	limitsOfTexts   = []limit{{"minLength", false, ""}, {"maxLength", true, ""}}
	limitsOfLists   = []limit{{"minItems", false, ""}, {"maxItems", true, ""}}
)

// outside checks that a number, the length of a text and that of a list are between their limits.
// What is too short because items of others are not in the data is unsure.
func outside(v any, rule rules.Rule, s *openapi.Schema) ([]wrong, error) {
	var limits []limit
	var size, subject, unit string
	severity := plan.SeverityError
	switch v := v.(type) {
	case json.Number:
		limits, size, subject = limitsOfNumbers, v.String(), "it must be"
	case string:
		limits, size, subject, unit = limitsOfTexts, strconv.Itoa(utf8.RuneCountInString(v)), "it must have", " characters"
	case []any:
		limits, size, subject, unit = limitsOfLists, strconv.Itoa(len(v)), "it must have", " items"
		if isShared := rule.List == classes.Map || rule.List == classes.Set; isShared && !rule.Exclusive {
			severity = plan.SeverityWarning
		}
	}
	var out []wrong
	for _, l := range limits {
		text, err := l.broken(size, s)
		if err != nil {
			return nil, err
		}
		if text == "" {
			continue
		}
		w := wrong{CodeRange, plan.SeverityError, subject + " " + text + unit}
		if !l.isMost {
			w.severity = severity
		}
		if w.severity == plan.SeverityWarning {
			w.text += ", those of others among them"
		}
		out = append(out, w)
	}
	return out, nil
}

// broken returns the limit of a schema that a size breaks, "" if it breaks none.
func (l limit) broken(size string, s *openapi.Schema) (string, error) {
	at, err := s.Keyword(l.keyword)
	if err != nil {
		return "", err
	}
	var strict openapi.Place
	if l.exclusive != "" {
		if strict, err = s.Keyword(l.exclusive); err != nil {
			return "", err
		}
	}
	isStrict := strict.Value.Is() && isBeside(at, strict)
	if text := l.breaks(size, at.Value, isStrict); text != "" {
		return text, nil
	}
	return l.breaks(size, strict.Value, true), nil
}

// isBeside reports whether two keywords stand in one object.
func isBeside(a, b openapi.Place) bool {
	around := func(p openapi.Place) string {
		pointer := p.Value.Pointer()
		return pointer[:strings.LastIndexByte(pointer, '/')+1]
	}
	return a.Value != nil && a.Document == b.Document && around(a) == around(b)
}

// breaks returns the limit in words if a size breaks it. A limit that is no number holds nothing.
func (l limit) breaks(size string, most *openapi.Value, isStrict bool) string {
	bound, isNumber := most.Decode().(json.Number)
	if !isNumber {
		return ""
	}
	order, ok := body.CompareNumbers(size, bound.String())
	if !l.isMost {
		order = -order
	}
	if !ok || order < 0 || order == 0 && !isStrict {
		return ""
	}
	words := map[[2]bool]string{{true, false}: "at most", {true, true}: "less than", {false, false}: "at least", {false, true}: "more than"}
	return fmt.Sprintf("%s %s", words[[2]bool{l.isMost, isStrict}], shorten(bound.String()))
}
