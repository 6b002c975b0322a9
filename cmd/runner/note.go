package main

import (
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/note"
	"github.com/app-sre/prcheck/plan"
)

// noteFor returns the note that shows a plan and its results.
func noteFor(tool string, at ci.Environment, p *plan.Plan, results *plan.Results) ci.Note {
	return note.Note{
		Tool: tool, Plan: p, Results: results, Serial: at.Generation, Commit: at.Commit.SHA,
		Links: note.Links{Pipeline: at.PipelineURL},
	}
}
