package sharding

import (
	"crypto/md5" //nolint:gosec // it shares out work and protects nothing
	"math/big"
)

// Index returns which of n processes does the work for a value, such as
// "cluster/namespace": its MD5 as a number, modulo n. With one process, or none, it
// is 0.
func Index(value string, n int) int {
	if n <= 1 {
		return 0
	}
	sum := md5.Sum([]byte(value)) //nolint:gosec // see above
	number := new(big.Int).SetBytes(sum[:])
	return int(number.Mod(number, big.NewInt(int64(n))).Int64())
}
