// Package fakes3 is a small S3 server for tests, in the process of the test. It has
// one bucket, lists objects in pages, and checks the conditions of writes
// atomically. A test can make it fail as stores and networks do.
//
// The server takes addresses in path style, and does not check signatures.
package fakes3
