package gql

import (
	"cmp"
	"slices"
	"strings"
)

// maxSuggestions is the number of names that a message offers.
const maxSuggestions = 5

// didYouMean offers names in a message; what says what they are, or is "".
func didYouMean(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	quotedNames := make([]string, 0, maxSuggestions)
	for _, name := range names[:min(len(names), maxSuggestions)] {
		quotedNames = append(quotedNames, quoted(name))
	}
	last := len(quotedNames) - 1
	list := quotedNames[last]
	switch {
	case last == 1:
		list = quotedNames[0] + " or " + list
	case last > 1:
		list = strings.Join(quotedNames[:last], ", ") + ", or " + list
	}
	return " Did you mean " + what + list + "?"
}

// suggest returns the options that resemble a word, the most alike first.
func suggest(word string, options []string) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	limit := len(word)*4/10 + 1
	for _, option := range options {
		if d := distance(word, option, limit); d <= limit {
			found = append(found, near{option, d})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	names := make([]string, len(found))
	for i, n := range found {
		names[i] = n.name
	}
	return names
}

// distance counts the letters to change, insert, remove or swap with their
// neighbour to turn one word into another. Case alone counts as one. Beyond the
// limit the result is only known to be larger.
func distance(a, b string, limit int) int {
	if a == b {
		return 0
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b {
		return 1
	}
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
