// Package plain holds the habits of types of plain REST APIs: in which envelopes their bodies stand, how they are found
// again whose id the service gives, how they are created, changed and listed, and where a mark of ours can stand.
//
// Most habits follow from the specification. What it does not say stands in a small description beside it: entries of
// the override file, see [Read]. A description that contradicts the specification or itself is one clear error, and
// so is a type without a natural key: without one, a creation whose answer was lost would be made a second time.
//
// The package is pure: it asks nobody.
package plain
