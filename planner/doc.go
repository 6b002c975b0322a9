// Package planner climbs the ladder in order: two bundles in, a plan out.
//
// It decides and never acts. Every integration of either side gets exactly one
// decision with its rung, its reason and its evidence, and the same input
// gives the same bytes on every machine.
package planner
