package resources

import (
	"slices"
	"strings"
)

// Habits are those that a group of APIs has in common.
type Habits struct {
	Name     string
	ReadOnly []string // the properties that the service fills in, as a.b
	// Mutable and Free are the properties that can always change, and those that can if nothing declares
	// otherwise: that PATCH lacks one proves nothing. CreateOnly are those that never can, and Fixed those
	// that cannot where nothing says so.
	Mutable, Free, CreateOnly, Fixed []string
	// Sets are the names of lists of texts that are sets and belong to the data.
	Sets []string
	// Keys are the members by which items of a list are known where nothing declares it, the best one first.
	Keys []string
	// ZeroDefaults says that a default of "", 0 or false comes from the language that the
	// service is written in, and is none.
	ZeroDefaults bool
	// Formats is the formats of texts by the name of the definition that they refer to.
	Formats map[string]string
	// IsJoin reports whether a part behind the address of a type can be a join. Without it
	// any fixed part can.
	IsJoin func(part string) bool
	shapes func(Template, []string) []shape
}

// The families.
var (
	ARM = &Habits{
		Name:     "arm",
		ReadOnly: []string{"id", "name", "type", "etag", "systemData", "properties.provisioningState"},
		Mutable:  []string{"tags"}, Free: []string{"identity", "sku"}, CreateOnly: []string{"location"},
		Fixed: []string{"zones"},
		Sets:  []string{"zones"}, Keys: []string{"name", "id"},
		shapes: armShapes,
	}
	Kubernetes = &Habits{
		Name: "kubernetes",
		ReadOnly: []string{"status", "metadata.uid", "metadata.resourceVersion", "metadata.generation",
			"metadata.creationTimestamp", "metadata.managedFields", "metadata.selfLink"},
		ZeroDefaults: true,
		Formats:      map[string]string{"io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity"},
		IsJoin:       func(part string) bool { return part == "status" || part == "scale" },
		shapes:       kubernetesShapes,
	}
	Plain = &Habits{Name: "plain", Keys: []string{"name", "id"}, shapes: plainShapes}
)

// resourceGroups is the type of what most addresses of ARM begin with.
const (
	subscriptions  = "Microsoft.Resources/subscriptions"
	resourceGroups = "Microsoft.Resources/resourceGroups"
)

// armShapes reads /SCOPE/providers/PROVIDER/TYPE/NAME/TYPE/NAME... The scope is a subscription,
// a group, any other resource, or a parameter that stands for one.
func armShapes(t Template, parts []string) []shape {
	i := indexFold(parts, "providers")
	if i < 0 {
		return armScope(parts)
	}
	provider, rest := slice(parts, i+1), parts[min(i+2, len(parts)):]
	if provider == "" || isParameter(provider) || len(rest) == 0 {
		return nil
	}
	names := []string{provider}
	isSingleton := len(rest)%2 == 1 // no name follows the last type
	if isSingleton && isParameter(rest[len(rest)-1]) {
		return nil
	}
	for j, part := range rest {
		if j%2 == 1 {
			isSingleton = t.isFixed(part)
			continue
		}
		if names = t.extend(names, part); len(names) > maxShapes {
			return nil
		}
	}
	var around []string
	for _, s := range armShapes(t, parts[:i]) {
		around = append(append(around, s.key()), s.ancestors...)
	}
	var out []shape
	for _, name := range names {
		out = append(out, shape{name: name, ancestors: append(within(name), around...), isSingleton: isSingleton})
	}
	return out
}

// within returns the types of the same provider around a type, the nearest first.
func within(name string) []string {
	var out []string
	for i := strings.LastIndexByte(name, '/'); i > strings.IndexByte(name, '/'); i = strings.LastIndexByte(name, '/') {
		name = name[:i]
		out = append(out, strings.ToLower(name))
	}
	return out
}

// extend returns names with one more type behind them: for a parameter each allowed value.
func (t Template) extend(names []string, part string) []string {
	values := []string{part}
	if isParameter(part) && len(t.Choices[part[1:len(part)-1]]) > 0 {
		values = t.Choices[part[1:len(part)-1]]
	}
	var out []string
	for _, name := range names {
		for _, v := range values {
			out = append(out, name+"/"+v)
		}
	}
	return out
}

func armScope(parts []string) []shape {
	switch {
	case len(parts) == 2 && strings.EqualFold(parts[0], "subscriptions"):
		return []shape{{name: subscriptions}}
	case len(parts) == 4 && strings.EqualFold(parts[0], "subscriptions") && strings.EqualFold(parts[2], "resourceGroups"):
		return []shape{{name: resourceGroups, ancestors: []string{strings.ToLower(subscriptions)}}}
	}
	return nil
}

func slice(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return ""
}

// kubernetesShapes reads /api/VERSION and /apis/GROUP/VERSION, and behind it
// namespaces/{namespace}, the plural of a kind, and a name.
func kubernetesShapes(_ Template, parts []string) []shape {
	n := 2
	switch parts[0] {
	case "api":
	case "apis":
		n = 3
	default:
		return nil
	}
	if len(parts) < n+2 {
		return nil
	}
	group, rest := strings.Join(parts[1:n], "/"), parts[n:]
	var ancestors []string
	if len(rest) == 4 && rest[0] == "namespaces" && isParameter(rest[1]) {
		ancestors, rest = []string{"v1/namespaces"}, rest[2:]
	}
	if len(rest) != 2 || isParameter(rest[0]) || !isParameter(rest[1]) {
		return nil
	}
	return []shape{{name: group + "/" + rest[0], ancestors: ancestors}}
}

// plainShapes reads any path: its fixed parts are the name.
func plainShapes(t Template, parts []string) []shape {
	var fixed, ancestors []string
	for i, part := range parts {
		if !isParameter(part) {
			fixed = append(fixed, part)
		}
		if name := strings.ToLower(strings.Join(fixed, "/")); i < len(parts)-1 && name != "" &&
			!slices.Contains(ancestors, name) {
			ancestors = append([]string{name}, ancestors...)
		}
	}
	if len(fixed) == 0 {
		return nil
	}
	s := shape{name: strings.Join(fixed, "/"), isSingleton: t.isFixed(parts[len(parts)-1])}
	s.ancestors = slices.DeleteFunc(ancestors, func(name string) bool { return name == s.key() })
	return []shape{s}
}
