package manifests

import (
	"iter"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A member that is a part of a key, with its value if it is missing.
type keyMember struct {
	name     string
	fallback any
}

// isForeign reports whether the object is of a kind that is no part of Kubernetes, so that the
// names of its members say nothing about them.
func (c *comparison) isForeign() bool {
	return strings.Contains(c.live.Kind.Group, ".") && !strings.HasSuffix(c.live.Kind.Group, ".k8s.io")
}

// keysOf returns the members by which the items of a list are known, nil if the list has no keys;
// or that the list is a set of texts. In kinds of Kubernetes the names of lists tell. Of all others
// the server tells in the fields that it notes for managers; if it does not, each index counts.
func (c *comparison) keysOf(p place, want []any) (members []keyMember, isOfTexts bool) {
	if !c.isForeign() {
		if members := keysOf(p.last(), want); members != nil {
			return members, false
		}
	}
	if isSet(p.last()) {
		return nil, true
	}
	if g := c.live.Kind.Group; g == "apps" || g == "batch" {
		return nil, false // the names of their lists are all known
	}
	members, isOfTexts = c.keysByServer(p)
	for _, item := range want {
		if members != nil && keysIn(members, item) == nil {
			return nil, false
		}
	}
	return members, isOfTexts
}

// isShared reports whether a place is a list of secrets of a ServiceAccount. OpenShift adds secrets
// to it, and is then the owner of the whole list: it is set by an update.
func (c *comparison) isShared(p place) bool {
	return c.live.Kind == serviceAccount && len(p) == 1 && (p[0].name == "secrets" || p[0].name == "imagePullSecrets")
}

// hasAll reports whether a list has items of these names.
func hasAll(items, want []any) bool {
	return !slices.ContainsFunc(want, func(w any) bool {
		return !slices.ContainsFunc(items, func(item any) bool { return text(at(item, "name")) == text(at(w, "name")) })
	})
}

// keysByServer returns what the fields of managers say about a list.
func (c *comparison) keysByServer(p place) (members []keyMember, isOfTexts bool) {
	path := p.path()
	for _, m := range c.live.managed {
		fields, err := m.fields()
		if err != nil {
			c.err = err
			continue
		}
		for _, element := range path {
			fields = fields.WithPrefix(element)
		}
		for e := range elementsOf(fields) {
			switch {
			case e.Key != nil:
				for _, f := range *e.Key {
					members = append(members, keyMember{name: f.Name})
				}
				return members, false
			case e.Value != nil:
				return nil, true
			}
		}
	}
	return nil, false
}

// elementsOf returns the first elements of the paths of a set of fields.
func elementsOf(fields *fieldpath.Set) iter.Seq[fieldpath.PathElement] {
	return func(yield func(fieldpath.PathElement) bool) {
		for e := range fields.Members.All() {
			if !yield(e) {
				return
			}
		}
		for e := range fields.Children.All() {
			if !yield(e) {
				return
			}
		}
	}
}

// keysOf returns the members by which the items of a list of Kubernetes are known; nil if the list
// has no keys. The names of lists mean the same in all kinds.
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

// isSequence reports whether the order of the items of a list with keys counts: a variable can use
// those before it, and containers that prepare a pod run one after the other.
func isSequence(list string) bool { return list == "env" || list == "initContainers" }

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
