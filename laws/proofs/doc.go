// Command proofs holds package queue/proving to plain truth over random scenes: a merge request whose pipeline passed
// on an older base, and what was merged since.
//
//	go run ./laws/proofs --scenes 2000 --seed 1
//
// A scene is a repository of git with people, rooms and programs: some ask declared queries, some are divided into
// shards, some use a script, some declare nothing. Both the merge request and the others edit data; the others also
// edit scripts, queries, definitions, settings and types. What a program sees of two sides is worked out by plain walks
// of the generated data, and by no engine of the product.
//
// The law: a task whose result is said to hold sees the very same on the new pair as on that of its own pipeline, and
// the rebased tree is that of git rebase. The last line says how many tasks held, and how many ran although they see
// the same.
package main
