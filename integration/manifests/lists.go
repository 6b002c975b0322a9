package manifests

import "slices"

// A member that is a part of a key, with its value if it is missing.
type keyMember struct {
	name     string
	fallback any
}

// keysOf returns the members by which the items of a list are known; nil if the list has no
// keys. The names of lists mean the same in all kinds.
func keysOf(list string, items []any) []keyMember {
	switch list {
	case "containers", "initContainers", "ephemeralContainers", "env", "volumes", "imagePullSecrets", "resourceClaims",
		"schedulingGates", "claims":
		return []keyMember{{name: "name"}}
	case "volumeMounts":
		return []keyMember{{name: "mountPath"}}
	case "volumeDevices":
		return []keyMember{{name: "devicePath"}}
	case "hostAliases":
		return []keyMember{{name: "ip"}}
	case "ownerReferences":
		return []keyMember{{name: "uid"}}
	case "topologySpreadConstraints":
		return []keyMember{{name: "topologyKey"}, {name: "whenUnsatisfiable"}}
	case "ports":
		return portKeys(items)
	}
	return nil
}

// portKeys returns the members by which ports are known: those of containers by the port of the
// container, those of a Service by the port of the Service.
func portKeys(items []any) []keyMember {
	protocol := keyMember{"protocol", "TCP"}
	for _, item := range items {
		if at(item, "containerPort") != nil {
			return []keyMember{{name: "containerPort"}, protocol}
		}
	}
	return []keyMember{{name: "port"}, protocol}
}

// isSet reports whether a list is a set of texts.
func isSet(list string) bool { return list == "finalizers" }

// isExact reports whether a place is in a selector. Selectors must not have members that the
// manifest does not have.
func isExact(p place) bool {
	return slices.ContainsFunc(p, func(s segment) bool {
		switch s.name {
		case "selector", "labelSelector", "namespaceSelector", "nodeSelector":
			return true
		}
		return false
	})
}

// isChoice reports whether an empty object means something, so that it differs from none.
func isChoice(p place) bool { return p.last() == "emptyDir" || isExact(p) }

// holdsQuantities reports whether the members of an object are quantities.
func holdsQuantities(object string) bool {
	switch object {
	case "requests", "limits", "capacity", "hard", "overhead":
		return true
	}
	return false
}

// isQuantity reports whether the value at a place is a quantity.
func isQuantity(p place) bool {
	n := len(p)
	return n > 0 && (p[n-1].name == "sizeLimit" || p[n-1].name == "divisor") || n > 1 && holdsQuantities(p[n-2].name)
}

// keysIn returns the keys of an item, nil if it has not all of them.
func keysIn(members []keyMember, item any) []key {
	var out []key
	for _, m := range members {
		v := at(item, m.name)
		if v == nil {
			v = m.fallback
		}
		switch v.(type) {
		case nil, map[string]any, []any:
			return nil
		}
		out = append(out, key{m.name, v})
	}
	return out
}

// findItem returns the item of a list that has these keys, and its index; -1 if there is none.
func findItem(items []any, keys []key) (any, int) {
	var members []keyMember
	for _, k := range keys {
		m := keyMember{name: k.name}
		if k.name == "protocol" {
			m.fallback = "TCP"
		}
		members = append(members, m)
	}
	for i, item := range items {
		if sameKeys(keysIn(members, item), keys) {
			return item, i
		}
	}
	return nil, -1
}

func sameKeys(a, b []key) bool {
	for i := range a {
		if plain(a[i].value) != plain(b[i].value) {
			return false
		}
	}
	return len(a) == len(b)
}
