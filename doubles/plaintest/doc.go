// Package plaintest plays services with plain REST APIs in the process of a test: they choose the ids, put bodies into
// envelopes, list in pages, take forms, and change some properties by actions only.
//
// How a service behaves is written down by hand for each collection, as a [Kind]. Nothing is read from a specification,
// and no code of our client is used: what both misread the same way would not be seen.
package plaintest
