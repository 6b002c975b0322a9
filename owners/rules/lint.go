package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/owners/content"
)

// A Hint is about a rule that can be used and yet may not do what was meant.
type Hint struct {
	File string
	Text string
}

// Hints looks at rules by themselves: types that nobody binds, contexts that are not bound to their file, roles that
// ended.
func (r *Rules) Hints() []Hint {
	var out []Hint
	for _, t := range r.Types {
		if !r.isBound(t) {
			out = append(out, Hint{t.File, fmt.Sprintf("no role binds the change type %q, and nothing else lends it owners",
				t.Name)})
		}
		for _, text := range t.unboundSelectors() {
			out = append(out,
				Hint{t.File,
					fmt.Sprintf("the selector %q of the change type %q does not mention {{ %s }}: the owners of one file may approve "+
						"what is about another one", text, t.Name, contextFile)})
		}
	}
	for _, role := range r.Ended {
		out = append(out, Hint{role.File, fmt.Sprintf("the role %q ended on %s: its people approve nothing", role.Name,
			role.Expires)})
	}
	names := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(r.People)) {
		name := r.People[path].Name
		if other := names[name]; other != "" {
			out = append(out, Hint{path, fmt.Sprintf("it has the name %q, and so has %s: a word of one counts for both", name,
				other)})
		}
		names[name] = path
	}
	return out
}

// isBound reports whether a type has owners: by a role, an heir, a type over it, or the files themselves.
func (r *Rules) isBound(t *Type) bool {
	isNamed := func(name string) bool { return name == t.Name || t.heirs[name] }
	for b := range r.byFile {
		if isNamed(b.name) {
			return true
		}
	}
	for b := range r.anyFile {
		if isNamed(b.name) {
			return true
		}
	}
	return len(t.implicit) > 0 || len(t.expansions) > 0
}

// unboundSelectors returns the selectors for files that name their context, if they allow the same whatever the context
// is.
func (t *Type) unboundSelectors() (out []string) {
	for _, rule := range t.Changes {
		if rule.Context == nil || rule.Context.When == "" || len(rule.Types) > 0 {
			continue
		}
		for _, text := range rule.Selectors {
			if !strings.Contains(text, "{{") {
				out = append(out, text)
			}
		}
	}
	return out
}

// A Use counts what a selector matches.
type Use struct {
	Type     *Type
	Selector string
}

// Unmatched returns the selectors that match nothing in the files of their schema. A template is left out: what it
// matches depends on the context.
func (r *Rules) Unmatched(files func(kind content.Kind, schema string) []any) []Use {
	var out []Use
	for _, t := range r.Types {
		for _, to := range slices.SortedFunc(maps.Keys(t.selectors), func(a, b target) int {
			return strings.Compare(a.schema, b.schema)
		}) {
			all := files(to.kind, to.schema)
			for _, s := range t.selectors[to] {
				if s.path == nil || len(all) == 0 && to.schema == "" {
					continue
				}
				isUsed := slices.ContainsFunc(all, func(of any) bool {
					matches, err := s.path.Places(of)
					return err == nil && len(matches) > 0
				})
				if !isUsed {
					out = append(out, Use{Type: t, Selector: s.text})
				}
			}
		}
	}
	return out
}
