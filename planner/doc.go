// Package planner makes a plan from two bundles. It asks the rungs of the ladder in
// order about every integration; see the method climb in ladder.go.
//
// The package decides and never acts. Every integration of either side gets exactly
// one decision, with its rung, reason and evidence. The same input gives the same
// bytes on every machine.
package planner
