// Package fakes3 provides a small S3 server for tests. It has one bucket with objects, lists
// in pages, and atomic conditional writes. A test can make requests fail as stores and
// networks do.
//
// The server takes URLs in path style and checks no signature.
package fakes3
