// Package comparison lays who must approve a change beside the report of change-owners of qontract-reconcile, for the
// time in which both run. It names each place about which they say something else, and the rule by which prcheck asks.
//
//	rows, err := comparison.Read(text)
//	c := comparison.Of(places, rows)
package comparison
