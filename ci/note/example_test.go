package note_test

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/plan"
)

func ExampleNote_Body() {
	p := &plan.Plan{
		Changes: plan.Changes{Datafiles: []plan.Datafile{{Path: "/dns/example.yml", Kind: plan.Modified,
			Fields: []string{"/records/0/ttl"}}}},
		Integrations: []plan.Decision{{Name: "dns", Decision: plan.Run, Rung: plan.RungSchema,
			Reason:   "it may read /dns/zone-1.yml",
			Evidence: plan.Evidence{Paths: []string{"/dns/example.yml"}}, Tasks: []string{"dns"}}},
		Tasks: []plan.Task{{ID: "dns", Integration: "dns", Argv: []string{"dns"}, Timeout: "1m0s"}},
	}
	if err := p.Seal(); err != nil {
		fmt.Println(err)
		return
	}
	n := note.Note{Tool: "prcheck", Plan: p, Serial: 2, Results: &plan.Results{Plan: p.Digest, Results: []plan.Result{
		{Task: "dns", Status: plan.Failed, Class: plan.ClassTask, Reason: "exit code 1", ExitCode: 1, Seconds: 3.25,
			Attempts: 1, Tail: "the TTL is 0"},
	}}}
	body, err := n.Body("") // or the body that the note has now
	if err != nil {
		fmt.Println(err)
		return
	}
	generation, ok := n.Generation(body)
	marker, text, _ := strings.Cut(body, "\n")
	fmt.Println(strings.HasPrefix(marker, n.Marker()), generation, ok)
	fmt.Println(text)
	// Output:
	// true 2 true
	// ### ❌ prcheck: 1 of 1 task did not pass
	//
	// - **What the dry runs would do is not known**, since the settings have no rules that find effects.
	// - **Look at 1 failure** below.
	//
	// This change touches 1 datafile. Checked: 1 of 1 integration. Skipped: 0. It took 3.2s.
	//
	// #### Failures (1)
	//
	// **`dns`** failed: exit code 1 (3.2s)
	//
	// - checked because it may read /dns/zone-1.yml
	// - changed: `/dns/example.yml` at `/records/0/ttl`
	//
	// ```
	// the TTL is 0
	// ```
	//
	// <details><summary>1 task planned: 1 failed</summary>
	//
	// | task | result | time | last line | checked because | log |
	// | :-- | :-- | :-- | :-- | :-- | :-- |
	// | `dns` | ❌ failed: exit code 1 | 3.2s | the TTL is 0 | it may read /dns/zone-1.yml |  |
	//
	// </details>
	//
	// plan `30c1a0d2a845`
}
