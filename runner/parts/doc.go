// Package parts reads the results of the parts of a run and merges them.
//
// A plan can be run in parts on several machines. Each part leaves a file of results.
// A task of which no file has a result has failed: nobody knows how it ended.
package parts
