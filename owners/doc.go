// Package owners says who must approve a change: for each difference of content the people whom base names for exactly
// that place, before anybody is asked.
//
//	r, err := owners.Check(owners.Input{Base: base, Head: head, Today: "2026-11-28"})
//	err = owners.WriteText(os.Stdout, r)
//
// The data goes one way: content finds the changed files, difference their places, rules the contexts of each file,
// coverage the contexts of each place, and people the fewest people to ask. What people wrote is for decision and
// approvals, which need a merge request.
//
// The rules are those of base. Those of head are only read, and what of them cannot be used is told.
package owners
