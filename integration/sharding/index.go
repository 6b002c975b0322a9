package sharding

import (
	"crypto/md5" //nolint:gosec // MD5 divides the work here; it protects nothing
	"math/big"
)

// Index returns the number of the static shard, out of n, that works on a value such as
// "cluster/namespace": the MD5 of the value as a number, modulo n. It is 0 if n is 1 or
// less.
func Index(value string, n int) int {
	if n <= 1 {
		return 0
	}
	sum := md5.Sum([]byte(value)) //nolint:gosec // see above
	number := new(big.Int).SetBytes(sum[:])
	return int(number.Mod(number, big.NewInt(int64(n))).Int64())
}
