// Package fakes3 is a small S3 in this process, for tests: objects of one
// bucket, lists in pages, and conditional writes that are really atomic. It can
// be told to have the faults that stores and networks have.
//
// It speaks path style and looks at no signature.
package fakes3
