package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/plan"
)

// effects FILE prints the effects of each result of a document, one a line. They can be
// compared as the output of the last command.
func effects(ts *testscript.TestScript, _ bool, args []string) {
	raw, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	var results plan.Results
	ts.Check(json.Unmarshal(raw, &results))
	for _, r := range results.Results {
		for _, line := range effectLines(r.Effects) {
			_, err := fmt.Fprintf(ts.Stdout(), "%s: %s\n", r.Task, line)
			ts.Check(err)
		}
	}
}

// effectLines describes the effects of a task.
func effectLines(e *plan.Effects) []string {
	switch {
	case e == nil:
		return []string{"nobody looked"}
	case e.Unknown != "":
		return []string{"unknown: " + e.Unknown}
	}
	var out []string
	for _, item := range e.Items {
		line := fmt.Sprintf("%s %s", item.Kind, item.Subject)
		if item.Times > 0 {
			line += fmt.Sprintf(" ×%d", item.Times)
		}
		if item.Since != "" {
			line += " (" + string(item.Since) + ")"
		}
		out = append(out, line)
	}
	for _, p := range e.Problems {
		out = append(out, "problem: "+p)
	}
	if len(out) == 0 {
		out = []string{"nothing"}
	}
	if e.Uncompared != "" {
		out = append(out, "not compared: "+e.Uncompared)
	}
	return out
}
