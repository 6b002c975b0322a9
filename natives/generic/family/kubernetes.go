package family

import (
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// FieldManager is the name under which fields are applied to API servers of Kubernetes.
const FieldManager = "prcheck-generic"

// Kubernetes is the family of API servers of Kubernetes. They limit requests by themselves.
var Kubernetes = &Family{
	Name:         "kubernetes",
	Types:        resources.Kubernetes,
	Parent:       kubernetesParent,
	Within:       kubernetesWithin,
	Above:        kubernetesAbove,
	Root:         kubernetesRoot,
	Chain:        func(a Address) string { return a.Key },
	Marks:        "/metadata/annotations",
	Integration:  "qontract.integration",
	Caller:       "qontract.caller_name",
	MaxMark:      256,
	Envelope:     kubernetesEnvelope,
	Foreign:      []string{"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision"},
	LockAt:       "/metadata/resourceVersion",
	LocksInBody:  true,
	NoVersion:    "9223372036854775807",
	FieldManager: FieldManager,
	ItemsAt:      "items",
	NextAt:       "metadata/continue",
	NextQuery:    "continue",
}

// kubernetesEnvelope says of which type an object is, and how it is called.
func kubernetesEnvelope(t *resources.Type, a Address) map[string]any {
	meta := map[string]any{"name": a.Name}
	if a.Parent != "" {
		meta["namespace"] = a.Parent[strings.LastIndexByte(a.Parent, '/')+1:]
	}
	return map[string]any{"apiVersion": t.Name[:strings.LastIndexByte(t.Name, '/')], "kind": t.Kind(), "metadata": meta}
}

// kubernetesParent counts plural and name of what is in a namespace, else the whole address.
func kubernetesParent(template []string) int {
	if inNamespace(template) {
		return 2
	}
	return len(template)
}

// inNamespace reports whether an address is that of something in a namespace:
// api/v1/namespaces/x/plural/name, or apis/group/version/namespaces/x/plural/name.
func inNamespace(parts []string) bool {
	n := len(parts)
	return n >= 6 && parts[n-4] == "namespaces" && (n == 6 && parts[0] == "api" || n == 7 && parts[0] == "apis")
}

// The address of a namespace is in the group of namespaces, and what is in it has the same
// parts behind its own group.
var namespaces = []string{"api", "v1", "namespaces"}

// kubernetesWithin puts the name of a namespace into the front of a template.
func kubernetesWithin(template, parent []string) []string {
	if !inNamespace(template) || !isNamespace(parent) {
		return parent
	}
	front := append([]string{}, template[:len(template)-2]...)
	front[len(front)-1] = parent[len(parent)-1]
	return front
}

// kubernetesAbove returns the address of the namespace that an address begins with.
func kubernetesAbove(front []string) []string {
	n := len(front)
	if n < 2 || front[n-2] != "namespaces" {
		return nil
	}
	return append(append([]string{}, namespaces...), front[n-1])
}

func isNamespace(parts []string) bool {
	return len(parts) == 4 && join(parts[:3]) == join(namespaces)
}

// kubernetesRoot returns the namespace of a resource, which a namespace is in itself. All that
// is in no namespace is one shard.
func kubernetesRoot(a Address) string {
	switch {
	case a.Parent != "":
		return a.Parent
	case isNamespace(split(a.Key)):
		return a.Key
	}
	return "/cluster"
}
