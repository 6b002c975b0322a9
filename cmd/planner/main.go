// Command planner answers which integrations must be dry-run for a proposed
// change, on which shards, and why. It decides and never acts.
package main

import (
	"os"

	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/programs/planner"
)

func main() {
	os.Exit(planner.Main(natives.List(natives.Services{})...))
}
