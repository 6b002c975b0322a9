// Package proof replays what a plan leaves out, by code that shares nothing with the code
// that decided it.
//
// [Check] reads both bundles as a whole into plain values and asks, for each integration,
// what must run by the rules of the documents: what changed, who may read it, which desired
// states differ, which shards, which traces and earlier results count. It compares this need
// with the tasks of the plan. It takes no short cuts: every file is decoded and compared,
// every query is answered as a whole on both sides, and the shards of a difference are found
// by building what each shard sees. It is slow and should be obvious.
//
// A rule that the planner forgets does not hide here, since nothing of the packages planner,
// affected and schemafilter is used. Other things are taken as they are:
//
//   - bundles as package bundle splits them into files, with their sha256,
//   - the settings and their patterns, and what head edits of the rules,
//   - the GraphQL engine, without its short cuts,
//   - traces, results and dependences as the state gives them,
//   - how work is divided into tasks and how these are started, see [Tasks].
package proof
