// Package shared gives tests the recorded data and the conformance cases that lie outside
// the repository: in the folder that PRCHECK_SHARED names, or in ../shared beside the
// repository. A test that asks for a missing file is skipped, with a message.
package shared
