package importer

import (
	"maps"
	"slices"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/plan"
)

// A Refusal is a value that a service answers and its specification does not allow.
type Refusal struct {
	At   string // a JSON pointer, with indexes of items
	Code string
}

// maxRefused is how often a body is checked again after something was left out.
const maxRefused = 5

// Refuse leaves out what the specification does not allow, so that the data have no mistake. What
// is required and missing stays so: nobody but a person can write it.
func (s *Stripped) Refuse(typ *validate.Checker) {
	for range maxRefused {
		isDone := true
		for _, f := range typ.Check(validate.Body{Value: s.Body}) {
			if f.Severity != plan.SeverityError || f.Code == validate.CodeRequired || f.Exact == "" {
				continue
			}
			at := around(s.Body, jsonpointer.Split(f.Exact), typ.Rules)
			s.Body, isDone = without(s.Body, at), false
			pointer := ""
			for _, part := range at {
				pointer = jsonpointer.Append(pointer, part)
			}
			if !slices.ContainsFunc(s.Refused, func(r Refusal) bool { return r.At == pointer }) {
				s.Refused = append(s.Refused, Refusal{pointer, string(f.Code)})
			}
		}
		if isDone {
			return
		}
	}
}

// around returns the smallest part of a path that can be left out alone: a member of an object that
// is merged by its members.
func around(v any, path []string, r rules.Rules) []string {
	pattern := ""
	for i, part := range path {
		rule := r.At(pattern)
		switch now := v.(type) {
		case map[string]any:
			if rule.Atomic {
				return path[:i]
			}
			v, pattern = now[part], jsonpointer.Append(pattern, part)
		case []any:
			n, err := strconv.Atoi(part)
			if rule.List != classes.Map || i == len(path)-1 || err != nil || n >= len(now) {
				return path[:i]
			}
			v, pattern = now[n], pattern+"/*"
		}
	}
	return path
}

// without returns a value without a part of it.
func without(v any, path []string) any {
	if len(path) == 0 {
		return map[string]any{}
	}
	switch now := v.(type) {
	case map[string]any:
		inner, isThere := now[path[0]]
		if !isThere {
			return v
		}
		out := maps.Clone(now)
		if delete(out, path[0]); len(path) > 1 {
			out[path[0]] = without(inner, path[1:])
		}
		return out
	case []any:
		n, err := strconv.Atoi(path[0])
		if err != nil || n >= len(now) || len(path) == 1 {
			return v
		}
		out := slices.Clone(now)
		out[n] = without(now[n], path[1:])
		return out
	}
	return v
}
