package validate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
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
	limitsOfObjects = []limit{{"minProperties", false, ""}, {"maxProperties", true, ""}}
)

// A size is what of a value is limited, and how a message says so.
type size struct {
	number        string
	limits        []limit
	before, after string // what stands around the limit
	// isPart says that others may add to it, so that nobody knows whether it is too small.
	isPart bool
}

// sizeOf returns the size of a value: a number itself, and how long a text, a list or an object is.
func sizeOf(v any, rule rules.Rule) size {
	switch v := v.(type) {
	case json.Number:
		return size{v.String(), limitsOfNumbers, "it must be", "", false}
	case string:
		return size{strconv.Itoa(utf8.RuneCountInString(v)), limitsOfTexts, "it must have", " characters", false}
	case []any:
		isShared := (rule.List == classes.Map || rule.List == classes.Set) && !rule.Exclusive
		return size{strconv.Itoa(len(v)), limitsOfLists, "it must have", " items", isShared}
	case map[string]any:
		there := 0
		for _, member := range v {
			if member != nil {
				there++
			}
		}
		return size{strconv.Itoa(there), limitsOfObjects, "it must have", " members", !rule.Atomic}
	}
	return size{}
}

// outside checks that a number, the length of a text, and those of a list and an object are between
// their limits.
func outside(v any, rule rules.Rule, s *openapi.Schema) ([]wrong, error) {
	is := sizeOf(v, rule)
	var out []wrong
	for _, l := range is.limits {
		text, err := l.broken(is.number, s)
		if err != nil {
			return nil, err
		}
		switch {
		case text == "":
		case is.isPart && !l.isMost && is.number == "0": // the data have no opinion
		case is.isPart && !l.isMost:
			out = append(out,
				wrong{CodeRange, plan.SeverityWarning, is.before + " " + text + is.after + ", those of others among them"})
		default:
			out = append(out, wrong{CodeRange, plan.SeverityError, is.before + " " + text + is.after})
		}
	}
	if number, isNumber := v.(json.Number); isNumber {
		of, err := s.Keyword("multipleOf")
		if step, ok := of.Value.Decode().(json.Number); ok && err == nil &&
			body.IsNoMultiple(number.String(), step.String()) {
			out = append(out,
				wrong{CodeRange, plan.SeverityError, "it must be a multiple of " + phrase.Cut(step.String(), maxQuoted)})
		}
		return out, err
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
	words := map[[2]bool]string{{true, false}: "at most", {true, true}: "less than", {false, false}: "at least",
		{false, true}: "more than"}
	return fmt.Sprintf("%s %s", words[[2]bool{l.isMost, isStrict}], phrase.Cut(bound.String(), maxQuoted))
}
