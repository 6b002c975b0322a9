package saas

import (
	"fmt"
	"slices"
	"strings"
)

// A Selector chooses the namespaces of a target by paths.
type Selector struct{ Include, Exclude []string }

// findAlike marks the targets of a saas file whose template, namespace and name are those of another one: it takes
// their channels and selectors to find them in the file. Promoted ones that have these in common as well are held,
// since nobody can say which of them a promotion is for.
func (r *reader) findAlike(f *File, a *fileAnswer) {
	places, twins := map[string][]string{}, map[string][]string{}
	for i, of := range a.Templates {
		for j, t := range of.Targets {
			if t.Path != nil {
				continue // it stands in a file of its own
			}
			place := fmt.Sprintf("/resourceTemplates/%d/targets/%d", i, j)
			key := fmt.Sprintf("%q %q %q", of.Name, t.namespace(), value(t.Name))
			places[key] = append(places[key], place)
			if p := t.Promotion.promotion(); p != nil && p.Auto && len(p.Subscribe) > 0 {
				all := key + fmt.Sprintf(" %q %+v", slices.Sorted(slices.Values(p.Subscribe)), t.selector())
				twins[all] = append(twins[all], place)
			}
		}
	}
	alike, equal := several(places), several(twins)
	for _, of := range f.Templates {
		for _, t := range of.Targets {
			if t.Alike = t.Place.File == f.Path && alike[t.Place.Pointer]; t.Alike && equal[t.Place.Pointer] {
				r.model.breakTarget(t, CodeName, "",
					fmt.Sprintf("the promotions of several targets of the template %.100s cannot be told apart; give the "+
						"targets names", of.Name))
			}
		}
	}
}

// several returns the places that others share a key with.
func several(places map[string][]string) map[string]bool {
	out := map[string]bool{}
	for _, list := range places {
		for _, place := range list {
			out[place] = len(list) > 1
		}
	}
	return out
}

// namespace returns the path of the namespace of a target, "" if it selects namespaces.
func (a *targetAnswer) namespace() string {
	if a.Namespace == nil {
		return ""
	}
	return a.Namespace.Path
}

// selector returns the selector of a target, the zero value if it has none.
func (a *targetAnswer) selector() Selector {
	if a.Selector == nil {
		return Selector{}
	}
	return Selector{Include: a.Selector.Paths.Include, Exclude: a.Selector.Paths.Exclude}
}

// Distinct returns what tells a target from those that are alike: its channels and its selector, nil if none is.
func (t *Target) Distinct() (channels []string, by *Selector) {
	if !t.Alike || t.Promotion == nil {
		return nil, nil
	}
	if t.Selected {
		by = &t.Selector
	}
	return slices.Compact(slices.SortedFunc(slices.Values(t.Promotion.Subscribe), strings.Compare)), by
}
