package planner_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	of "github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// The order of a list in a body or in a target may mean something to an integration. A change
// of it is no proof that nothing is to do, and concerns one shard.
func TestOrderInNativeBody(t *testing.T) {
	for name, part := range map[string]func(list []string) of.Part{
		"body":   func(l []string) of.Part { return of.Part{Items: []reconcile.Item{{Key: "k", Body: l}}} },
		"target": func(l []string) of.Part { return of.Part{Target: l} },
	} {
		n := of.Make(of.Integration{Name: "it", Desired: func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (of.Desired, error) {
			raw, err := query(ctx, `{ groups { name size } }`, nil)
			if err != nil {
				return of.Desired{}, err
			}
			var answer struct {
				Groups []struct {
					Name string
					Size int
				}
			}
			if err := json.Unmarshal(raw, &answer); err != nil {
				return of.Desired{}, err
			}
			list := []string{"first", "second"}
			for _, g := range answer.Groups {
				if g.Name == "ops" && g.Size == 2 {
					slices.Reverse(list)
				}
			}
			p := part(list)
			p.Shard = "one"
			return of.Desired{Parts: []of.Part{{Shard: "other"}, p}}, nil
		}})
		base, head := world(), world()
		resize(base, head)
		d, _ := made(t, input(t, base, head, exec, n)).Decision("it")
		if d.Code != plan.CodeShardsDiffer || !strings.Contains(d.Reason, `"one"`) {
			t.Errorf("%s: got %s: %s", name, d.Code, d.Reason)
		}
	}
}
