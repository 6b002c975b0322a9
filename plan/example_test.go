package plan_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

func small() *plan.Plan {
	p := &plan.Plan{
		Integrations: []plan.Decision{{Name: "dns", Decision: plan.Run, Rung: plan.RungSchema,
			Reason: "it may read /dns/zone-1.yml", Tasks: []string{"dns"}}},
		Tasks: []plan.Task{{ID: "dns", Integration: "dns", Argv: []string{"dns", "--dry-run"}, Timeout: "10m0s"}},
	}
	if err := p.Seal(); err != nil {
		panic(err)
	}
	return p
}

func ExamplePlan_Seal() {
	p := &plan.Plan{Integrations: []plan.Decision{{Name: "dns", Decision: plan.Skip, Rung: plan.RungSchema,
		Reason: "nothing it reads changed"}}}
	fmt.Println(p.Seal(), p.Version, strings.HasPrefix(p.Digest, "sha256:"))

	p.Integrations[0].Rung = "luck"
	fmt.Println(p.Seal())
	// Output:
	// <nil> prcheck/v1 true
	// sealing the plan: integration "dns": the rung is "luck"; it must be one of ["definition" "schema" "fields" "state" "shards" "result"]
}

func ExampleRead() {
	var file bytes.Buffer
	if err := plan.Write(&file, small()); err != nil {
		fmt.Println(err)
	}
	text := file.String()

	p, err := plan.Read(strings.NewReader(text))
	fmt.Println(p.Tasks[0].Argv, err)

	_, err = plan.Read(strings.NewReader(text + "{}"))
	fmt.Println(err)
	// Output:
	// [dns --dry-run] <nil>
	// reading the plan: there is more after the document; keep one document per file
}

func ExampleMergeResults() {
	merged, err := plan.MergeResults(small()) // the only part got lost
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(merged.Failed(), merged.Results[0].Status, "-", merged.Results[0].Reason)
	// Output: true not_run - no result: the part that should have run it is missing
}

func ExampleWriteResults() {
	rs := &plan.Results{Plan: "sha256:1",
		Results: []plan.Result{{Task: "dns", Status: plan.Passed, Seconds: 3.2, Attempts: 1}}}
	if err := plan.WriteResults(os.Stdout, rs); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//   "version": "prcheck/v1",
	//   "plan": "sha256:1",
	//   "results": [
	//     {
	//       "task": "dns",
	//       "status": "passed",
	//       "exit_code": 0,
	//       "seconds": 3.2,
	//       "attempts": 1
	//     }
	//   ]
	// }
}

// Two machines share three tasks: the longest goes to one, the others to the
// other.
func ExamplePartition() {
	tasks := []plan.Task{{ID: "dns", EstimateSeconds: 20}, {ID: "users", EstimateSeconds: 70},
		{ID: "quay", EstimateSeconds: 30}}
	for i, part := range plan.Partition(tasks, 2) {
		fmt.Printf("%d/2:", i+1)
		for _, t := range part.Tasks {
			fmt.Print(" ", t.ID)
		}
		fmt.Println()
	}
	// Output:
	// 1/2: users
	// 2/2: dns quay
}
