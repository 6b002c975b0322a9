// Package change opens the change that the flags of a command describe: both bundles, the
// settings that hold, and what is remembered of earlier runs. It connects the packages that
// read references (source), that decide which rules hold (planner/rules) and that make the
// plan (planner), and decides nothing itself.
package change
