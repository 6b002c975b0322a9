package family

import (
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// ARM is the family of the resource managers of Azure. The limits are those of 2024, for each
// subscription, principal and region.
var ARM = &Family{
	Name:          "arm",
	Types:         resources.ARM,
	FoldsCase:     true,
	TypesInPath:   true,
	Parent:        armParent,
	Root:          armRoot,
	Chain:         armChain,
	Query:         func(t *resources.Type) url.Values { return url.Values{"api-version": {t.Version}} },
	Marks:         "/tags",
	Integration:   "qontract-integration",
	Caller:        "qontract-caller",
	MaxMark:       256,
	PutCreates:    true,
	LockAt:        "/etag",
	HasOperations: true,
	ItemsAt:       "value",
	NextAt:        "nextLink",
	Limits: map[Kind]Limit{
		Reads:   {Tokens: 250, PerSecond: 25},
		Writes:  {Tokens: 200, PerSecond: 10},
		Deletes: {Tokens: 200, PerSecond: 10},
	},
}

// armParent counts the parts behind the parent: providers, the provider, a type and a name for
// the first type of a provider, a type and a name for the others. A singleton that has no name
// is one part shorter.
func armParent(template []string) int {
	i := lastProviders(template)
	switch n := len(template) - i - 1; {
	case i < 0:
		return min(2, len(template))
	case n <= 3:
		return n + 1
	default:
		return 1 + n%2
	}
}

// armRoot returns the subscription of a resource, or what else is outermost.
func armRoot(a Address) string {
	parts := split(a.Key)
	end := 2
	if parts[0] == "providers" {
		end = 4
	}
	return join(parts[:min(end, len(parts))])
}

// armChain returns the outermost resource of the last provider. A group is no such resource:
// what stands in it can be written at the same time.
func armChain(a Address) string {
	parts := split(a.Key)
	i := lastProviders(parts)
	if i < 0 {
		return a.Key
	}
	return join(parts[:min(i+4, len(parts))])
}

func lastProviders(parts []string) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if strings.EqualFold(parts[i], "providers") {
			return i
		}
	}
	return -1
}
