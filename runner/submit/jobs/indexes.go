package jobs

import (
	"strconv"
	"strings"
)

// countIndexes returns the number of indexes in a list of a Job's status, such as
// 5 for "1,3-5,7".
func countIndexes(list string) int {
	n := 0
	for entry := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(entry), "-")
		from, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(high); err != nil || to < from {
				continue
			}
		}
		n += to - from + 1
	}
	return n
}
