package saas

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/qontract/jsonpath"
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
			if isExclude {
				delete(chosen, n.key())
			} else {
				chosen[n.key()] = n
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

// key returns what selectors know a namespace by: its cluster and its name.
func (n *Namespace) key() [2]string { return [2]string{n.Cluster.Name, n.Name} }

// matching returns the namespaces that a path chooses. Each path is looked at once. A namespace
// that cannot be used makes every answer unknown.
func (r *reader) matching(path string) ([]*Namespace, error) {
	if m, known := r.matches[path]; known {
		return m.namespaces, m.err
	}
	var m match
	if r.unread != "" {
		m.err = errors.New(r.unread)
	} else {
		m.namespaces, m.err = r.search(path)
	}
	r.matches[path] = m
	return m.namespaces, m.err
}

// search returns the namespaces that a path chooses. What it chooses must be namespaces.
func (r *reader) search(text string) ([]*Namespace, error) {
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	if r.document == nil {
		var list []any
		r.byKey = map[[2]string]*Namespace{}
		for _, a := range r.selectable {
			n := r.namespaces[a.Path]
			list, r.byKey[n.key()] = append(list, plain(r.fields[a.Path])), n
		}
		r.document = map[string]any{"namespace": list}
	}
	found, err := path.Find(r.document)
	if err != nil {
		return nil, err
	}
	var out []*Namespace
	for _, v := range found {
		name, _ := field(v, "name").(string)
		cluster, _ := field(field(v, "cluster"), "name").(string)
		n := r.byKey[[2]string{cluster, name}]
		if n == nil {
			return nil, errors.New("it chooses something that is no namespace; it must end with a namespace, such as " +
				"$.namespace[?@.app.name=\"shop\"]")
		}
		out = append(out, n)
	}
	return out, nil
}

// plain returns a value without the order of its fields, and without fields that are null.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member != nil {
				out[name] = plain(member)
			}
		}
		return out
	case *ordered:
		if v == nil {
			return nil
		}
		return plain(v.values)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = plain(item)
		}
		return out
	}
	return v
}
