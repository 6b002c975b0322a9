package family

import "github.com/app-sre/prcheck/natives/openapi/resources"

// Plain is the family of all other APIs: nothing is known of them beyond their specification and a description beside
// it, see package plain. An id that the service gives is not known before a resource is found: the address of such a
// resource has its name in the place of the id.
var Plain = &Family{
	Name:   "plain",
	Types:  resources.Plain,
	Parent: plainParent,
	Root:   func(Address) string { return "" }, // what may refer to each other is the whole API
	Chain:  plainChain,
}

// plainParent counts the parts behind the last parameter in front of the name.
func plainParent(template []string) int {
	for i := len(template) - 2; i >= 0; i-- {
		if isParameter(template[i]) {
			return len(template) - i - 1
		}
	}
	return len(template)
}

// plainChain returns what a resource stands in, itself if it stands alone.
func plainChain(a Address) string {
	if a.Parent != "" {
		return a.Parent
	}
	return a.Key
}
