package selftest

import (
	"context"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A Law is a promise of the planner, with the conditions under which it holds.
type Law struct {
	Name       string
	Says       string
	Conditions string

	live  bool // it can be checked on the bundles of a live server
	check func(ctx context.Context, t *tester, base, head *bundle.Bundle) (finding, error)
}

// Laws returns all laws, in the order in which they are checked.
func Laws() []Law {
	return []Law{
		{Name: "same", Says: "a change of nothing plans nothing",
			Conditions: "head edits no rules", check: checkSame},
		{Name: "swap", Says: "base and head swapped select the same integrations",
			Conditions: "both sides define the integration in the same way; no traces", check: checkSwap},
		{Name: "order", Says: "the order of files and keys does not matter",
			Conditions: "if the order of lists counts (list_order: significant), both sides have their files in the same order",
			check:      checkOrder},
		{Name: "lists", Says: "the order of list items does not matter to declared queries",
			Conditions: "list_order is ignored, which is the default", check: checkLists},
		{Name: "whole", Says: "selected, skipped and disabled integrations are all integrations, each once",
			Conditions: "none", live: true, check: checkWhole},
		{Name: "proof", Says: "a second implementation finds no decision that leaves too much out",
			Conditions: "none", live: true, check: checkProof},
		{Name: "shards", Says: "the shards of an integration are the whole integration, and none overlap",
			Conditions: "the integration is divided into tasks", check: checkShards},
		{Name: "parts", Says: "the parts of a plan are the whole plan, and none overlap",
			Conditions: "the plan has tasks", live: true, check: checkParts},
		{Name: "sources", Says: "a bundle gives the same plan however it was opened",
			Conditions: "a server is asked only if both sides have the same types, and not about integrations whose queries " +
				"have errors", check: checkSources},
		{Name: "rename", Says: "renaming a file is removing one and adding another",
			Conditions: "a few datafiles are renamed, one of each schema", check: checkRename},
		{Name: "narrow", Says: "a narrower list of schemas never adds work",
			Conditions: "both sides define the integration in the same way", check: checkNarrow},
		{Name: "more", Says: "a change that is added to another keeps what the other selected",
			Conditions: "both sides have the same types and define the integration in the same way; the addition does not " +
				"take the desired state back to that of base", check: checkMore},
	}
}
