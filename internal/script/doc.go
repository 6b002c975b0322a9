// Package script runs the test scripts of a command, the files of its
// testdata/script, with what all of them may use.
package script
