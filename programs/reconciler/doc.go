// Package reconciler is the program reconciler, which makes the world as merged data say. It is the only program with
// writers. A program of one's own hands it further natives: see docs/natives.md.
package reconciler
