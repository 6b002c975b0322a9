// Package harmless makes foreign text safe to show to people: names, keys and
// output that come from a merge request must not move a cursor, forge lines or
// reorder what is read.
package sanitize
