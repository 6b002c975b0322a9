// Package planner is the program planner, which answers which integrations must be dry-run for a proposed change, on
// which shards, and why. It decides and never acts. A program of one's own hands it further natives: see
// docs/natives.md.
package planner
