//go:build !unix

package bundler

// noWait is empty on systems where opening a file never waits.
const noWait = 0
