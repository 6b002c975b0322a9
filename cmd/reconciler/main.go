// Command reconciler makes the world as merged data say, with native integrations. It is the only
// program with writers.
package main

import (
	"os"

	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/connect"
	"github.com/app-sre/prcheck/programs/reconciler"
)

func main() {
	os.Exit(reconciler.Main(natives.List(connect.ActingServices())...))
}
