package pipeline_test

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/ci/pipeline"
	"github.com/app-sre/prcheck/plan"
)

func ExampleWrite() {
	p := &plan.Plan{Tasks: []plan.Task{
		{ID: "dns", Timeout: "10m0s"}, {ID: "users/ana", Timeout: "10m0s"}, {ID: "users/bob", Timeout: "10m0s", Order: 1},
	}}
	var out strings.Builder
	if err := pipeline.Write(&out, p, pipeline.Options{Parent: "4711", Parts: 3}); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "prcheck-") {
			fmt.Print(line)
		}
	}
	// Output:
	// prcheck-inputs:
	// prcheck-parts-1-to-2:
	// prcheck-part-3:
	// prcheck-report:
}
