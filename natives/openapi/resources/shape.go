package resources

import (
	"slices"
	"strings"
)

// A Template is the path of an address, with the allowed values of its parameters.
type Template struct {
	Path    string
	Choices map[string][]string
	// IsKubernetes says that the specification is one of Kubernetes. Without it, only a path
	// that no other API has is taken for one.
	IsKubernetes bool
}

// A shape is what an address says about a type.
type shape struct {
	family      *Habits
	name        string   // without a version
	ancestors   []string // names of what may be the parent, in lower case, the nearest first
	isSingleton bool
}

func (s shape) key() string { return strings.ToLower(s.name) }

// shapes returns what an address says about types, nil if it can be none. It is more than one
// if a parameter in the place of a type has several allowed values.
func (t Template) shapes() []shape {
	if len(t.Path) > maxPath || !strings.HasPrefix(t.Path, "/") {
		return nil
	}
	parts := strings.Split(strings.Trim(t.Path, "/"), "/")
	if slices.Contains(parts, "") {
		return nil
	}
	family := t.family(parts)
	out := family.shapes(t, parts)
	for i := range out {
		out[i].family = family
	}
	return out
}

const (
	maxPath   = 2000 // bytes of a path
	maxShapes = 100  // types of one address
)

func (t Template) family(parts []string) *Habits {
	switch {
	case t.IsKubernetes, parts[0] == "apis", parts[0] == "api" && strings.Contains(t.Path, "/namespaces/{namespace}/"):
		return Kubernetes
	case strings.EqualFold(parts[0], "subscriptions"), indexFold(parts, "providers") >= 0:
		return ARM
	}
	return Plain
}

func isParameter(part string) bool {
	return len(part) > 2 && part[0] == '{' && part[len(part)-1] == '}'
}

// isFixed reports whether a name of an address can be one name only.
func (t Template) isFixed(part string) bool {
	return !isParameter(part) || len(t.Choices[part[1:len(part)-1]]) == 1
}

// indexFold returns the last index of a part, -1 if there is none.
func indexFold(parts []string, part string) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if strings.EqualFold(parts[i], part) {
			return i
		}
	}
	return -1
}

// Parents returns the parent of each type that some addresses describe, "" if the parent is
// not among them. The address of a type need not have any operation here.
func Parents(templates []Template) map[string]string {
	known := map[string]string{}
	var all []shape
	for _, t := range templates {
		for _, s := range t.shapes() {
			all = append(all, s)
			if _, ok := known[s.key()]; !ok {
				known[s.key()] = s.name
			}
		}
	}
	out := map[string]string{}
	for _, s := range all {
		out[s.name] = s.parent(func(key string) string { return known[key] })
	}
	return out
}

// parent returns the nearest ancestor that is known.
func (s shape) parent(known func(key string) string) string {
	for _, key := range s.ancestors {
		if name := known(key); name != "" {
			return name
		}
	}
	return ""
}
