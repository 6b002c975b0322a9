package hooks

import (
	"context"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
)

// Shipped returns the hooks that are a part of the program.
func Shipped() []*Hook {
	return []*Hook{
		{
			Name: "azure-autoscaled-capacity", Types: "Microsoft.Compute/virtualMachineScaleSets", ByName: true,
			Text:    "leaves the number of machines of a scale set that is there to its autoscaler",
			Compare: leaveCapacity,
		},
		{
			Name: "azure-keyvault-soft-delete", Types: "Microsoft.KeyVault/vaults",
			Text:          "does with a deleted vault of the same name what the data say: stop, recover or purge",
			PreReconcile:  findDeletedVault,
			ClassifyError: classifyVault,
		},
		{
			Name: "azure-storage-empty-rules", Types: "Microsoft.Storage/storageAccounts",
			Text:          "sends an empty list for network rules that are to go, since the service keeps what is not sent",
			MutateRequest: emptyRules,
		},
	}
}

// leaveCapacity leaves the capacity alone once the scale set is there. Its first value is that
// of the data.
func leaveCapacity(_ context.Context, x Subject) ([]Leave, error) {
	if _, isThere := body.Get(x.Live, "/sku/capacity"); !isThere {
		return nil, nil
	}
	return []Leave{{At: "/sku/capacity", Reason: "the autoscaler of the scale set decides it"}}, nil
}

// ruleLists is the lists of a storage account that only an empty list clears.
var ruleLists = []string{"ipRules", "virtualNetworkRules", "resourceAccessRules"}

const networkRules = "/properties/networkAcls"

// emptyRules fills in an empty list for each list of rules that a request clears, and does not
// name or names as null: by itself, or with all network rules.
func emptyRules(_ context.Context, x Subject, q Request) (Request, error) {
	for _, list := range ruleLists {
		pointer := networkRules + "/" + list
		if _, isThere := body.Get(x.Live, pointer); !isThere || !clears(q.Cleared, pointer) {
			continue
		}
		if sent, _ := body.Get(q.Body, pointer); sent == nil {
			q.Body = with(q.Body, pointer, []any{})
		}
	}
	// The service refuses network rules without their default action.
	if rules, _ := body.Get(q.Body, networkRules); rules != nil && text(rules, "/defaultAction") == "" {
		if live, isThere := body.Get(x.Live, networkRules+"/defaultAction"); isThere {
			q.Body = with(q.Body, networkRules+"/defaultAction", live)
		}
	}
	return q, nil
}

// clears reports whether a property is cleared, by itself or with what is around it.
func clears(cleared []string, pointer string) bool {
	return slices.ContainsFunc(cleared, func(c string) bool {
		return c == pointer || strings.HasPrefix(pointer, c+"/")
	})
}
