package hugepages_test

import (
	"testing"

	"github.com/app-sre/prcheck/internal/hugepages"
)

// Advise changes no byte of a buffer, whatever its size.
func TestAdvise(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 2 << 20, 5<<20 + 17} {
		buf := make([]byte, size)
		for i := range buf {
			buf[i] = byte(i)
		}
		hugepages.Advise(buf)
		for i := range buf {
			if buf[i] != byte(i) {
				t.Fatalf("of %d bytes, byte %d changed", size, i)
			}
		}
	}
}
