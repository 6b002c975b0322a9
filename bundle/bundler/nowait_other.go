//go:build !unix

package bundler

// noWait is nothing where opening a file never waits.
const noWait = 0
