package bundle

import "slices"

// compareTypes returns the names of the GraphQL types that differ. If only one of the
// bundles has the old form, a list, every type of head counts, because filters behave
// differently with the old form.
func compareTypes(base, head *Bundle) []string {
	if base.HasSameGraphQL(head) {
		return nil
	}
	before, after := typesByName(base.GraphQL()), typesByName(head.GraphQL())
	_, wasList := base.GraphQL().([]any)
	_, isList := head.GraphQL().([]any)
	var out []string
	for name, v := range after {
		if old, ok := before[name]; !ok || wasList != isList || !Equal(old, v) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// typeConfs returns the descriptions of the GraphQL types. It accepts both forms of the
// section.
func typeConfs(graphql any) []any {
	if o, ok := graphql.(*Object); ok {
		graphql, _ = o.Get("confs")
	}
	list, _ := graphql.([]any)
	return list
}

// typesByName maps each name to a list of the types with this name.
func typesByName(graphql any) map[string]any {
	out := map[string]any{}
	for _, t := range typeConfs(graphql) {
		o, _ := t.(*Object)
		if o == nil {
			o = &Object{}
		}
		// A malformed list can have several types with one name. They are compared together, so
		// that no difference is missed.
		name := o.String("name")
		all, _ := out[name].([]any)
		out[name] = append(all, t)
	}
	return out
}

// jsonFieldNames returns the names of all fields of the GraphQL type json.
func jsonFieldNames(b *Bundle) map[string]bool {
	out := map[string]bool{}
	for _, t := range typeConfs(b.GraphQL()) {
		o, _ := t.(*Object)
		if o == nil {
			continue
		}
		fields, _ := o.Get("fields")
		list, _ := fields.([]any)
		for _, f := range list {
			if f, ok := f.(*Object); ok && f.String("type") == "json" {
				out[f.String("name")] = true
			}
		}
	}
	return out
}
