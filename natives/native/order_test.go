package native_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// The order of a list in a body or in a target may mean something to an integration. A change
// of it is no proof that nothing is to do, and concerns one shard. The materials of the lamp have another order on
// head.
func TestOrderInBody(t *testing.T) {
	base, err := bundle.Open("../../testdata/shop/base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Open("../../testdata/shop/head.json", base)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [run]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		part func(materials []string) native.Part
		want plan.Code
	}{
		"body": {func(l []string) native.Part { return native.Part{Items: []reconcile.Item{{Key: "k", Body: l}}} },
			plan.CodeShardsDiffer},
		"target": {func(l []string) native.Part { return native.Part{Target: l} }, plan.CodeShardsDiffer},
		"no order": {func(l []string) native.Part {
			slices.Sort(l)
			return native.Part{Target: l}
		}, plan.CodeSameState},
	} {
		n := native.Make(native.Recipe{Name: "supplier-orders",
			Desired: func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
				raw, err := query(ctx, `{ products { name materials } }`, nil)
				if err != nil {
					return native.Desired{}, err
				}
				var answer struct {
					Products []struct {
						Name      string
						Materials []string
					}
				}
				err = json.Unmarshal(raw, &answer)
				var out native.Desired
				for _, p := range answer.Products {
					part := c.part(p.Materials)
					part.Shard = p.Name
					out.Parts = append(out.Parts, part)
				}
				return out, err
			}})
		p, err := planner.Make(t.Context(), planner.Input{Base: base, Head: head, Settings: rules,
			Natives: []integration.DryRunner{n}})
		if err != nil {
			t.Fatal(err)
		}
		d, _ := p.Decision("supplier-orders")
		if d.Code != c.want ||
			d.Code == plan.CodeShardsDiffer && (!strings.Contains(d.Reason, `"lamp"`) || len(d.Tasks) != 1) {
			t.Errorf("%s: got %s: %s", name, d.Code, d.Reason)
		}
	}
}
