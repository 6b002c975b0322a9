package saas

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A match is what a path of a selector chose.
type match struct {
	namespaces []*Namespace
	err        error
}

// selectNamespaces returns the namespaces that a selector chooses, sorted by cluster and name: those
// of all paths of include without those of all paths of exclude. The mistake has a pointer below
// the target.
func (r *reader) selectNamespaces(a *selectorAnswer) ([]*Namespace, *mistake) {
	chosen := map[[2]string]*Namespace{}
	for i, path := range append(slices.Clone(a.Paths.Include), a.Paths.Exclude...) {
		isExclude := i >= len(a.Paths.Include)
		found, err := r.matching(path)
		if err != nil {
			pointer := fmt.Sprintf("/namespaceSelector/jsonPathSelectors/include/%d", i)
			if isExclude {
				pointer = fmt.Sprintf("/namespaceSelector/jsonPathSelectors/exclude/%d", i-len(a.Paths.Include))
			}
			return nil, &mistake{pointer, fmt.Sprintf("the path %.200q: %v", path, err)}
		}
		for _, n := range found {
			key := [2]string{n.Cluster.Name, n.Name}
			if isExclude {
				delete(chosen, key)
			} else {
				chosen[key] = n
			}
		}
	}
	out := make([]*Namespace, 0, len(chosen))
	for _, n := range chosen {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *Namespace) int {
		return cmp.Or(strings.Compare(a.Cluster.Name, b.Cluster.Name), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// matching returns the namespaces that a path chooses. Each path is looked at once. A namespace
// that cannot be used makes every answer unknown.
func (r *reader) matching(path string) ([]*Namespace, error) {
	if m, known := r.matches[path]; known {
		return m.namespaces, m.err
	}
	var m match
	steps, err := parsePath(path)
	switch {
	case err != nil:
		m.err = err
	case r.unread != "":
		m.err = errors.New(r.unread)
	default:
		for i, a := range r.selectable {
			if steps.chooses(r.fields[a.Path], i) {
				m.namespaces = append(m.namespaces, r.namespaces[a.Path])
			}
		}
	}
	r.matches[path] = m
	return m.namespaces, m.err
}

// A selection chooses among the namespaces: by position (-1: any), and by conditions that must all
// hold.
type selection struct {
	position   int
	conditions []condition
}

// chooses reports whether a selection chooses the namespace at a position.
func (s selection) chooses(fields map[string]any, position int) bool {
	if s.position >= 0 && s.position != position {
		return false
	}
	return !slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.holds(fields) })
}

// A condition compares a field with a value. Without an operator the field must be there.
type condition struct {
	names    []string
	operator string
	value    any // string, json.Number or bool
}

// holds reports whether a condition holds for an object. A field that is missing or null fits to
// nothing.
func (c condition) holds(fields map[string]any) bool {
	var at any = fields
	for _, name := range c.names {
		at = field(at, name)
	}
	if at == nil {
		return false
	}
	if c.operator == "" {
		return true
	}
	// A number or a truth value is compared with an integer as Python makes one of it.
	if want, isNumber := asNumber(c.value); isNumber {
		if is, ok := toNumber(at); ok {
			return compare(cmp.Compare(is, want), c.operator)
		}
		return false
	}
	is, isText := at.(string)
	if !isText {
		return c.operator == "!="
	}
	return compare(strings.Compare(is, c.value.(string)), c.operator)
}

// compare reports whether an order is what an operator asks for.
func compare(order int, operator string) bool {
	switch operator {
	case "=", "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

// asNumber returns a number or a truth value as a number.
func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// toNumber returns a value of the data as a number: texts with digits count.
func toNumber(v any) (float64, bool) {
	if text, isText := v.(string); isText {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		return float64(n), err == nil
	}
	return asNumber(v)
}
