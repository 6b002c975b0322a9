// Package script runs the test scripts of a command: the files in its testdata/script. It
// adds commands that all scripts may use.
package script
