package suggest

import (
	"cmp"
	"slices"
)

// Words returns the known words that a word can be turned into with at most
// limit edits, the nearest first. A word is not similar when nothing of it
// would be left.
func Words(word string, known []string, limit int) []string {
	type near struct {
		word  string
		edits int
	}
	var found []near
	for _, k := range known {
		if n := Edits(word, k); n <= limit && n < len(k) {
			found = append(found, near{k, n})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.edits, b.edits) })
	var out []string
	for _, n := range found {
		out = append(out, n.word)
	}
	return out
}

// Edits returns how many bytes must be inserted, removed or changed to turn one
// word into the other (the Levenshtein distance).
func Edits(a, b string) int {
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
