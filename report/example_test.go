package report_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// newExample returns a plan with one task and its result.
func newExample() (*plan.Plan, *plan.Results) {
	p := &plan.Plan{
		Integrations: []plan.Decision{
			{Name: "dns", Decision: plan.Run, Rung: plan.RungSchema, Reason: "it may read /dns/zone-1.yml",
				Tasks: []string{"dns"}},
			{Name: "users", Decision: plan.Skip, Rung: plan.RungFields, Reason: "its queries read no changed field"},
		},
		Tasks: []plan.Task{{ID: "dns", Integration: "dns", Argv: []string{"dns", "--dry-run"}, Timeout: "10m0s"}},
	}
	return p, &plan.Results{Results: []plan.Result{{Task: "dns", Status: plan.Failed, Class: plan.ClassTask,
		Reason: "exit code 3", ExitCode: 3, Attempts: 1, Seconds: 3.2, Tail: "no such zone"}}}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
	}
}

func ExampleNew() {
	rep := report.New(newExample())
	fmt.Println(rep.Verdict, rep.Counts.Failed, "of", rep.Counts.Tasks)
	// Output: failed 1 of 1
}

func ExampleText() {
	check(report.Text(os.Stdout, report.New(newExample()), report.Style{}))
	// Output:
	// 1 of 2 integrations to check, 1 skipped
	//
	//   decided at  run  shards  skip  left
	//   definition    ·       ·     ·     2
	//   schema        1       ·     ·     1
	//   fields        ·       ·     1     ·
	//   state         ·       ·     ·     ·
	//   shards        ·       ·     ·     ·
	//
	// Checked: 1 integration, 1 task
	//   dns  3.2s  failed: exit code 3
	//       schema: it may read /dns/zone-1.yml
	//
	// Skipped: 1 at fields (-v lists them with their reasons)
	//
	// Effects: not known what the tasks would do, since the settings have no rules that find effects
	//
	// Failures (1)
	//   dns failed: exit code 3 (class task, 3.2s)
	//     checked because it may read /dns/zone-1.yml
	//     | no such zone
	//
	// FAILED: 1 of 1 task did not pass (1 failed)
}

func ExampleMarkdown() {
	check(report.Markdown(os.Stdout, report.New(newExample())))
	// Output:
	// ### ❌ prcheck failed: 1 of 1 task did not pass (1 failed)
	//
	// Effects: not known what the tasks would do, since the settings have no rules that find effects.
	//
	// #### Failures (1)
	//
	// **`dns`** failed: exit code 3 (class task, 3.2s)
	//
	// - checked because it may read /dns/zone-1.yml
	//
	// ```
	// no such zone
	// ```
	//
	// <details><summary>1 of 2 integrations to check, 1 skipped</summary>
	//
	// | decided at | run | shards | skip | left |
	// | :-- | --: | --: | --: | --: |
	// | definition | 0 | 0 | 0 | 2 |
	// | schema | 1 | 0 | 0 | 1 |
	// | fields | 0 | 0 | 1 | 0 |
	// | state | 0 | 0 | 0 | 0 |
	// | shards | 0 | 0 | 0 | 0 |
	//
	// </details>
	//
	// <details><summary>1 task</summary>
	//
	// | task | time | result | last line | decided at | checked because |
	// | :-- | --: | :-- | :-- | :-- | :-- |
	// | `dns` | 3.2s | failed: exit code 3 |  | schema | it may read /dns/zone-1.yml |
	//
	// </details>
	//
	// <details><summary>1 skipped at fields</summary>
	//
	// | integration | why |
	// | :-- | :-- |
	// | `users` | its queries read no changed field |
	//
	// </details>
}

func ExampleJSON() {
	check(report.JSON(os.Stdout, report.New(newExample())))
	// Output:
	// {
	//   "version": "prcheck/v1",
	//   "plan": "",
	//   "verdict": "failed",
	//   "counts": {
	//     "integrations": 2,
	//     "run": 1,
	//     "shards": 0,
	//     "skip": 1,
	//     "tasks": 1,
	//     "passed": 0,
	//     "failed": 1,
	//     "timed_out": 0,
	//     "canceled": 0,
	//     "not_run": 0,
	//     "baseline": 0,
	//     "seconds": 3.2
	//   },
	//   "rungs": [
	//     {
	//       "rung": "definition",
	//       "run": 0,
	//       "shards": 0,
	//       "skip": 0,
	//       "left": 2
	//     },
	//     {
	//       "rung": "schema",
	//       "run": 1,
	//       "shards": 0,
	//       "skip": 0,
	//       "left": 1
	//     },
	//     {
	//       "rung": "fields",
	//       "run": 0,
	//       "shards": 0,
	//       "skip": 1,
	//       "left": 0
	//     },
	//     {
	//       "rung": "state",
	//       "run": 0,
	//       "shards": 0,
	//       "skip": 0,
	//       "left": 0
	//     },
	//     {
	//       "rung": "shards",
	//       "run": 0,
	//       "shards": 0,
	//       "skip": 0,
	//       "left": 0
	//     },
	//     {
	//       "rung": "result",
	//       "run": 0,
	//       "shards": 0,
	//       "skip": 0,
	//       "left": 0
	//     }
	//   ],
	//   "integrations": [
	//     {
	//       "name": "dns",
	//       "decision": "run",
	//       "rung": "schema",
	//       "reason": "it may read /dns/zone-1.yml",
	//       "tasks": [
	//         "dns"
	//       ]
	//     },
	//     {
	//       "name": "users",
	//       "decision": "skip",
	//       "rung": "fields",
	//       "reason": "its queries read no changed field",
	//       "tasks": []
	//     }
	//   ],
	//   "results": [
	//     {
	//       "integration": "dns",
	//       "task": "dns",
	//       "status": "failed",
	//       "class": "task",
	//       "reason": "exit code 3",
	//       "exit_code": 3,
	//       "seconds": 3.2,
	//       "attempts": 1,
	//       "tail": "no such zone"
	//     }
	//   ],
	//   "effects": {
	//     "counts": {
	//       "create": 0,
	//       "change": 0,
	//       "delete": 0,
	//       "other": 0
	//     },
	//     "groups": [],
	//     "tasks": 1,
	//     "unknown": [],
	//     "unlooked": [
	//       {
	//         "integration": "dns",
	//         "tasks": 1
	//       }
	//     ]
	//   },
	//   "warnings": []
	// }
}

func ExamplePlanText() {
	p, _ := newExample()
	check(report.PlanText(os.Stdout, p, report.Style{}))
	// Output:
	// PLAN: 1 task to run
	// 1 of 2 integrations to check, 1 skipped
	//
	//   decided at  run  shards  skip  left
	//   definition    ·       ·     ·     2
	//   schema        1       ·     ·     1
	//   fields        ·       ·     1     ·
	//   state         ·       ·     ·     ·
	//   shards        ·       ·     ·     ·
	//
	// Changed: 0 datafiles, 0 resources, 0 schemas, 0 GraphQL types
	//
	// To check (1)
	//   dns  run  1 task  schema  it may read /dns/zone-1.yml
	//
	// Skipped at fields (1)
	//   users  its queries read no changed field
}

func ExamplePlanMarkdown() {
	p, _ := newExample()
	check(report.PlanMarkdown(os.Stdout, p))
	// Output:
	// ### prcheck plan: 1 task to run
	//
	// 1 of 2 integrations to check, 1 skipped.
	//
	// | decided at | run | shards | skip | left |
	// | :-- | --: | --: | --: | --: |
	// | definition | 0 | 0 | 0 | 2 |
	// | schema | 1 | 0 | 0 | 1 |
	// | fields | 0 | 0 | 1 | 0 |
	// | state | 0 | 0 | 0 | 0 |
	// | shards | 0 | 0 | 0 | 0 |
	//
	// Changed: nothing.
	//
	// #### To check
	//
	// | integration | decision | decided at | why |
	// | :-- | :-- | :-- | :-- |
	// | `dns` | run | schema | it may read /dns/zone-1.yml |
	//
	// <details><summary>1 skipped at fields</summary>
	//
	// | integration | why |
	// | :-- | :-- |
	// | `users` | its queries read no changed field |
	//
	// </details>
}

func ExampleExplainText() {
	p, _ := newExample()
	check(report.ExplainText(os.Stdout, p, "dns", nil))
	check(report.ExplainText(os.Stdout, p, "dsn", nil))
	check(report.ExplainText(os.Stdout, p, "user", nil))
	// Output:
	// dns runs in full
	//   reason  it may read /dns/zone-1.yml
	//   rung    schema: did a file change that it may read?
	//
	// Tasks (1)
	//   dns (timeout 10m0s)
	//     dns --dry-run
	// unknown integration "dsn"; did you mean dns?
	// unknown integration "user"; did you mean users?
}

func ExampleHTML() {
	p, results := newExample()
	var page strings.Builder
	check(report.HTML(&page, report.Page{Plan: p, Report: report.New(p, results)}))
	_, rest, _ := strings.Cut(page.String(), "<title>")
	title, _, _ := strings.Cut(rest, "</title>")
	fmt.Println(title)
	// Output: prcheck failed: 1 of 1 task did not pass (1 failed)
}
