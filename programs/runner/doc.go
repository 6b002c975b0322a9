// Package runner is the program runner, which runs the dry-runs of a plan and reports their results. A program of one's
// own hands it further natives: see docs/natives.md.
package runner
