package runner_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/settings"
)

// A program of its own plans a change and runs the plan.
func Example() {
	base, head := open("../testdata/shop/base.json"), open("../testdata/shop/head.json")
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [/bin/echo, '{cmd}']}\n"))
	if err != nil {
		log.Fatal(err)
	}
	plan, err := planner.Make(context.Background(), planner.Input{Base: base, Head: head, Settings: rules})
	if err != nil {
		log.Fatal(err)
	}
	logs, err := os.MkdirTemp("", "logs")
	if err != nil {
		log.Fatal(err)
	}
	results, err := runner.Run(context.Background(),
		runner.Input{Plan: plan, Base: base, Head: head, Settings: rules},
		runner.Options{Logs: logs})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results.Results {
		fmt.Printf("%s %s: %s\n", r.Task, r.Status, r.Tail)
	}
	_ = os.RemoveAll(logs) // they are temporary
	// Output:
	// price-tags passed: price-tags
	// shop-window passed: shop-window
	// supplier-orders passed: supplier-orders
	// warehouse-stock passed: warehouse-stock
}

func open(name string) *bundle.Bundle {
	b, err := bundle.Open(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	return b
}
