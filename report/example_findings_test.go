package report_test

import (
	"os"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// newExampleFindings returns findings of a plan with one task that failed.
func newExampleFindings() report.Input {
	p, results := newExample()
	p.Integrations[0].Evidence.Paths = []string{"/dns/zone.yml"}
	p.Changes.Datafiles = append(p.Changes.Datafiles, plan.Datafile{Path: "/dns/zone.yml", Kind: plan.Modified,
		Fields: []string{"/records/0/ttl"}})
	return report.Input{Plan: p, Report: report.New(p, results)}
}

func ExampleJUnit() {
	check(report.JUnit(os.Stdout, newExampleFindings()))
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <testsuites>
	//   <testsuite name="prcheck" tests="1" failures="1" errors="0" skipped="0" time="3.200">
	//     <testcase classname="dns" name="dns" file="data/dns/zone.yml" time="3.200">
	//       <failure message="failed: exit code 3" type="task">failed: exit code 3&#xA;&#xA;no such zone</failure>
	//     </testcase>
	//   </testsuite>
	// </testsuites>
}

func ExampleCodeQuality() {
	f := newExampleFindings()
	f.Locator = locator{}
	check(report.CodeQuality(os.Stdout, f))
	// Output:
	// [
	//   {
	//     "description": "dns: failed: exit code 3: no such zone (changed: /records/0/ttl)",
	//     "check_name": "dns",
	//     "fingerprint": "0f3b6e3848542f8333bd4c7a813224592a5eca7870ae75c3c0ac1b9a20d0f699",
	//     "severity": "critical",
	//     "location": {
	//       "path": "sub/data/dns/zone.yml",
	//       "lines": {
	//         "begin": 15
	//       }
	//     }
	//   }
	// ]
}
