// Package traces tells people what traces hold: [Write] lists what a task asked, and
// [Suggest] writes the definition of an integration that allows only what its tasks read.
package traces
