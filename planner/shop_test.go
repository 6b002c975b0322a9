package planner_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shop is the input that the example of the README gives.
func shop() (planner.Input, error) {
	const dir = "../testdata/shop"
	in := planner.Input{BaseRef: "base.json", HeadRef: "head.json", ReadQuery: func(path string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, path))
	}}
	raw, err := os.ReadFile(filepath.Join(dir, "prcheck.yaml"))
	if err != nil {
		return in, err
	}
	if in.Settings, err = settings.Read("prcheck.yaml", raw); err != nil {
		return in, err
	}
	if in.Base, err = bundle.Open(filepath.Join(dir, in.BaseRef), nil); err != nil {
		return in, err
	}
	in.Head, err = bundle.Open(filepath.Join(dir, in.HeadRef), in.Base)
	return in, err
}

// The whole plan of the example, byte by byte.
func TestShop(t *testing.T) {
	in, err := shop()
	if err != nil {
		t.Fatal(err)
	}
	p := made(t, in)
	laws(t, in, p)
	const golden = "testdata/shop.plan.json"
	got := []byte(text(t, p))
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the plan is; look at what -update makes of it", golden)
	}
}

func ExampleMake() {
	in, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := planner.Make(context.Background(), in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range p.Integrations {
		fmt.Printf("%s: %s at rung %s\n", d.Name, d.Decision, d.Rung)
	}
	for _, t := range p.Tasks {
		fmt.Println(t.ID, t.Argv)
	}
	// Output:
	// price-tags: skip at rung fields
	// shop-window: run at rung schema
	// staff-badges: skip at rung schema
	// supplier-orders: skip at rung state
	// warehouse-stock: shards at rung shards
	// shop-window [go run ./integrations/shop-window -now {base_url} -wanted {graphql_url}]
	// warehouse-stock/harbor [go run ./integrations/warehouse-stock -now {base_url} -wanted {graphql_url} -warehouse harbor]
}

func ExampleVerify() {
	in, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := planner.Make(context.Background(), in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range p.Integrations {
		if d := &p.Integrations[i]; d.Name == "shop-window" {
			d.Decision, d.Tasks = plan.Skip, nil
		}
	}
	p.Tasks = p.Tasks[1:]
	report, err := planner.Verify(context.Background(), in, p)
	fmt.Println(len(report.Refuted), report.Refuted[0].Integration, err)
	// Output:
	// 1 shop-window <nil>
}

func ExampleChanges() {
	in, err := shop()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range planner.Changes(in.Base, in.Head).Datafiles {
		fmt.Println(d.Kind, d.Path, d.Fields)
	}
	// Output:
	// modified /products/lamp.yml [/description /materials]
	// modified /warehouses/harbor.yml [/shelves]
}
