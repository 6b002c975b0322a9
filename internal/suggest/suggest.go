package suggest

import (
	"cmp"
	"slices"
	"strconv"
)

// Words returns the known words into which a word can be turned with at most limit edits,
// the word with the fewest edits first. A known word is left out if the edits would
// replace all of it. Only words of a similar length are compared.
func Words(word string, known []string, limit int) []string {
	type candidate struct {
		word  string
		edits int
	}
	var candidates []candidate
	for _, k := range known {
		if most := min(limit, len(k)-1); max(len(word)-len(k), len(k)-len(word)) > most { // each byte too many is an edit
			continue
		}
		if n := Edits(word, k); n <= limit && n < len(k) {
			candidates = append(candidates, candidate{k, n})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.edits, b.edits) })
	var out []string
	for _, c := range candidates {
		out = append(out, c.word)
	}
	return out
}

// Hint returns the known word that is nearest to an unknown one as the end of a message,
// " (did you mean "x"?)", and "" if none is near.
func Hint(word string, known []string) string {
	near := Words(word, known, 2)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strconv.Quote(near[0]) + "?)"
}

// Edits returns how many bytes must be inserted, removed or changed to turn one word into
// the other. This is the Levenshtein distance.
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
