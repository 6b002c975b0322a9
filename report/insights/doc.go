// Package insights tells people what their integrations cost over many runs, and why. [New]
// computes it from the tallies of a state; [Text], [JSON] and [HTML] show it.
package insights
