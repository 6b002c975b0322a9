// Package simulation plays months of an installation with saas files in tests: commits, builds,
// merges by people, runs that fail, requests that fail, processes that die. It has tests alone.
//
// The same events come to two systems. One is the code of this project: the loop of pipelines and
// the promotions. The other is a model of what runs today in qontract-reconcile: four trigger
// integrations with a memory each, and promotions by batches of merge requests. A table compares
// what became of them.
//
// The clock is virtual and goes from event to event. What a system believes does not count: the
// world knows what each run deployed, and when.
package simulation
