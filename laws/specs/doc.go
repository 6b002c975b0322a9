// Package main holds six laws over every resource type of every API specification of ARM that it is given: a body is
// made for each type, the native generic runs over all of them, and a nasty service plays the types. "make laws" runs
// it. It is no part of the product.
//
// # The laws
//
//  1. Quiet: the run after a good run writes nothing, and ends well.
//  2. A write loses nothing: after any update the store of the service has every value of the data and of the secrets.
//  3. Drift never destroys: without a change of the data nothing is deleted, though each entry allows to be replaced.
//  4. Failed is red: while the service says Failed no run is good about the resource, and once it says Succeeded one
//
// is.  5. No secret out: no value of a secret is in the log, in a finding, or in the state.
//  6. Told before the merge: what the service refuses is an error of the check without credentials, and what it takes
//
// is none.
//
// # The nasty service
//
// It keeps what was sent. GET answers that, without what is write-only, with a value for each property that is
// read-only and for each optional one that was not sent, in objects and in items of lists, with ids and locations in
// another case, and with lists that have no order turned around. PUT replaces all but what is read-only. PATCH merges
// where the type has it. A create-only value that changes is refused. Operations end at once, tell a status document, a
// Location or a state; reads are behind for a while; some requests are throttled.
//
// The classes that it plays are read from the documents by code of its own, which shares nothing with that of the
// native.
//
//   - book.go, types.go: documents and types; classes.go: what the service thinks of a property; bodies.go: bodies.
//   - service.go, answers.go: the service; scene.go: the native and its data; laws.go: the laws.
//   - main.go, table.go: all folders, and the table; mutants.go: broken engines, which the laws must catch.
package main
