// Package sanitize makes foreign text safe to show to people. Names, keys and output that
// come from a merge request could otherwise move the cursor of a terminal, forge lines
// or change the order in which text is read.
package sanitize
