// Package simulation plays months of an installation with saas files in tests: commits, builds,
// merges by people, runs that fail, requests that fail, processes that die. It has tests alone.
//
// The same events come to two systems. One is the code of this project: the loop of pipelines and
// the promotions. The other is a model of what runs today in qontract-reconcile: four trigger
// integrations with a memory each, and promotions by batches of merge requests. A table compares
// what became of them.
//
// A walk without any model holds the parts together: the three natives themselves, Jobs that run
// saas-deploy in the process, and GitLab; and that what the long simulation uses of the promotions
// makes the merge request that the native makes.
//
// The clock is virtual and goes from event to event. What a system believes does not count: the
// world knows what each run deployed, and when.
package simulation
