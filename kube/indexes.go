package kube

import (
	"strconv"
	"strings"
)

// count says how many indexes a Job's status lists, such as 1,3-5,7.
func count(indexes string) int {
	n := 0
	for one := range strings.SplitSeq(indexes, ",") {
		low, high, is := strings.Cut(strings.TrimSpace(one), "-")
		from, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		to := from
		if is {
			if to, err = strconv.Atoi(high); err != nil || to < from {
				continue
			}
		}
		n += to - from + 1
	}
	return n
}
