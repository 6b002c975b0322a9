// Package main holds the law of effects over random changes: what a native says of a change by the data alone is what
// it says when it asks a target that is as base says. "make laws" runs it. It is no part of the product.
//
//	go run ./laws/effects --changes 10000 --seed 1
//
// A change is a few edits of the data of one native. It is checked in three ways: by a dry run with a target that a run
// of base left behind, or that is made as base says, by one with a target that nobody reaches, and as "planner check"
// tells it.
// The effects must be the same: kind, action, subject, type, name, target, part, causes, and the fields that change
// with their new values. Old values are not held: a service fills in defaults of which the data know nothing. So must
// be a deletion and a new creation that a change of a field means.
//
// A change that the target refuses is not held, since the data alone cannot tell what is left of it: the dry run
// fails on it anyway. How many there are is printed.
//
//   - law.go: one change, and the difference; main.go: many of them.
//   - generic.go: resources of the example of a cloud, at its simulated service; namespaces.go: namespaces of a cluster
//     in memory.
package main
