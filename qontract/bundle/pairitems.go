package bundle

// pairItems returns for each item of the old list the index of its partner in the new list,
// or -1. Items are paired first by identity, then if they are equal. The remaining objects
// and lists that have no identity are paired in order.
func pairItems(old, new []any) []int {
	partners := make([]int, len(old))
	for i := range partners {
		partners[i] = -1
	}
	taken := make([]bool, len(new))
	match := func(name func(any) string) {
		free := map[string][]int{}
		for j := range new {
			if n := name(new[j]); !taken[j] && n != "" {
				free[n] = append(free[n], j)
			}
		}
		for i := range old {
			n := name(old[i])
			if js := free[n]; partners[i] < 0 && n != "" && len(js) > 0 {
				partners[i], free[n] = js[0], js[1:]
				taken[js[0]] = true
			}
		}
	}
	match(itemIdentity)
	match(Canonical)
	match(func(v any) string {
		if itemIdentity(v) != "" {
			return ""
		}
		switch v.(type) {
		case *Object:
			return "object"
		case []any:
			return "list"
		}
		return ""
	})
	return partners
}

// itemIdentity returns the identity of a list item: its __identifier, or its target if it
// is a reference. It returns "" for an item without an identity.
func itemIdentity(v any) string {
	o, ok := v.(*Object)
	if !ok {
		return ""
	}
	if id := o.String("__identifier"); id != "" {
		return "id " + id
	}
	if to, ok := Ref(o); ok {
		return "ref " + string(to)
	}
	return ""
}
