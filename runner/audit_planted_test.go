package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/settings"
)

// An asker is a native integration that tells the answer to a query.
type asker struct{ name, query string }

func (n asker) Name() string { return n.name }

func (n asker) DryRun(ctx context.Context, env integration.Environment) error {
	answer, err := env.Query(ctx, n.query, nil)
	_, _ = fmt.Fprintf(env.Log, "%s\n", answer) // the log never fails
	return err
}

func (asker) Run(context.Context, integration.Environment, integration.Actors) error {
	panic("a task writes nothing")
}

// The skip of staff-badges is wrong: how many products a supplier has is in its answer, and its
// definition allows no products. The audit finds that as often as the sample promises, and
// nothing else.
func TestAuditFindsPlanted(t *testing.T) {
	raw, err := os.ReadFile("../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	base := open("../testdata/shop/base.json")
	head, err := bundle.Parse(bytes.Replace(raw, []byte(`"$ref": "/suppliers/oakworks.yml"`),
		[]byte(`"$ref": "/suppliers/northlight.yml"`), 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	const counting = "{ suppliers { name products { __typename } } }"
	natives := []integration.DryRunner{
		asker{"price-tags", "{ products { name } }"}, asker{"shop-window", "{ products { name } }"},
		asker{"supplier-orders", counting},
		asker{"staff-badges", counting}, asker{"warehouse-stock", "{ warehouses { name } }"},
	}
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nintegrations: {price-tags: {queries: [names]}, warehouse-stock: {queries: [names]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := planner.Input{Base: base, Head: head, Settings: rules, Natives: natives,
		ReadQuery: func(string) ([]byte, error) { return []byte("{ products { name } }"), nil }}
	p, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	skipped, err := planner.Skipped(t.Context(), in, p)
	if err != nil || len(skipped) != 3 {
		t.Fatalf("got %v, %v, want three units that the plan leaves out", skipped, err)
	}
	const plans, rate = 400, 0.25
	total := plan.AuditCount{}
	for i := range plans {
		a, err := runner.Audit(t.Context(), runner.Input{Plan: p, Base: base, Head: head, Settings: rules, Natives: natives},
			runner.Options{Logs: t.TempDir()}, runner.AuditOptions{
				Skipped: skipped, Rate: rate, Seed: fmt.Sprint(i), Budget: time.Hour,
				Remedy: func(ctx context.Context, unit plan.Skipped, o plan.Observed) string {
					return planner.Remedy(ctx, in, p, unit, o)
				},
			})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range a.Units {
			if isWrong := u.Outcome == plan.AuditWrong; isWrong != (u.Integration == "staff-badges") ||
				u.Outcome == plan.AuditUnclear {
				t.Fatalf("seed %d: got %+v", i, u)
			}
			if want := "add /shop/product-1.yml to the schemas of the definition /integrations/staff-badges.yml"; u.Outcome ==
				plan.AuditWrong && u.Remedy != want {
				t.Fatalf("seed %d: got the remedy %q", i, u.Remedy)
			}
		}
		total = total.Plus(plan.Sum(a.Count()))
	}
	// 100, with a standard deviation of 9
	if want := plans * rate; float64(total.Wrong) < want*0.7 || float64(total.Wrong) > want*1.3 {
		t.Errorf("the audits found %d wrong skips in %d plans, want about %.0f", total.Wrong, plans, want)
	}
	if want := plans * rate * 2; float64(total.Right) < want*0.75 || float64(total.Right) > want*1.25 {
		t.Errorf("the audits found %d right skips in %d plans, want about %.0f", total.Right, plans, want)
	}
}
