//go:build !unix

package systems

import "testing"

// makePipe skips the test: there are no named pipes in folders.
func makePipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("this system has no named pipes")
}
