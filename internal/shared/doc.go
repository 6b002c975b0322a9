// Package shared gives tests the recorded data and the conformance cases that
// lie outside the repository, in the folder that PRCHECK_SHARED names or in
// ../shared beside it. A test that asks for what is not there is skipped, with
// a message.
package shared
