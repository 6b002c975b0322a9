package integration

import "fmt"

// didYouMean is the end of a message about a misspelled word, or nothing when
// no known word is near.
func didYouMean(got string, known []string) string {
	best, least := "", 3
	for _, word := range known {
		if d := distance(got, word, least); d < least && d < len(word) {
			best, least = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance counts the letters to add, drop or replace to get from a to b. From
// limit on it no longer counts.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diagonal
			if a[i] != b[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
