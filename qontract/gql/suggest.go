package gql

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
)

// maxSuggestions is the number of names that one message suggests.
const maxSuggestions = 5

// didYouMean returns the suggestion at the end of a message, such as ` Did you mean "a" or
// "b"?`. kind stands before the names, for example "the enum value ", and may be "".
func didYouMean(kind string, options []string) string {
	if len(options) == 0 {
		return ""
	}
	quoted := make([]string, min(len(options), maxSuggestions))
	for i := range quoted {
		quoted[i] = `"` + options[i] + `"`
	}
	last := len(quoted) - 1
	list := quoted[last]
	switch last {
	case 0:
	case 1:
		list = quoted[0] + " or " + list
	default:
		list = strings.Join(quoted[:last], ", ") + ", or " + list
	}
	return " Did you mean " + kind + list + "?"
}

// maxCells limits the work of comparing names for one document, since a name can be as long
// as the document.
const maxCells = 20_000_000

// A nameSuggester finds the known names that a misspelt name may stand for. It compares
// names by optimal string alignment: the number of letters to insert, delete, replace, or
// swap with their neighbor, where no letter is edited twice. A difference in upper and
// lower case counts as 1 in total.
type nameSuggester struct {
	rows  [3][]int
	cells int // table cells computed for the document so far
}

// suggest returns the options that are similar to a name, the most similar first. An option
// is similar if its distance is at most 40 percent of the length of the name, plus 1.
func (s *nameSuggester) suggest(name string, options []string) []string {
	distances := map[string]int{}
	var near []string
	lower := lowerCaseUnits(name)
	limit := len(lower)*2/5 + 1
	for _, option := range options {
		d := 0
		if option != name {
			d = s.distance(lowerCaseUnits(option), lower, limit)
		}
		if _, known := distances[option]; d <= limit && !known {
			distances[option] = d
			near = append(near, option)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), naturalCompare(a, b))
	})
	return near
}

// lowerCaseUnits returns the UTF-16 units of a name in lower case.
func lowerCaseUnits(name string) []uint16 { return utf16.Encode([]rune(strings.ToLower(name))) }

// distance returns the distance of two different names, or a number above the limit if the
// distance exceeds the limit.
func (s *nameSuggester) distance(long, short []uint16, limit int) int {
	if slices.Equal(long, short) {
		return 1
	}
	if len(long) < len(short) {
		long, short = short, long
	}
	s.cells += len(long)
	if len(long)-len(short) > limit || s.cells+len(long)*len(short) > maxCells {
		return limit + 1
	}
	for i := range s.rows {
		if len(s.rows[i]) <= len(short) {
			s.rows[i] = make([]int, len(short)+1)
		}
	}
	for j := range len(short) + 1 {
		s.rows[0][j] = j
	}
	for i := 1; i <= len(long); i++ {
		if s.fillRow(long, short, i) > limit {
			return limit + 1
		}
	}
	return s.rows[len(long)%3][len(short)]
}

// fillRow fills in one row of the distance table and returns the smallest distance in it.
func (s *nameSuggester) fillRow(long, short []uint16, i int) int {
	s.cells += len(short)
	up, row := s.rows[(i-1)%3], s.rows[i%3]
	row[0] = i
	smallest := i
	for j := 1; j <= len(short); j++ {
		cost := 1
		if long[i-1] == short[j-1] {
			cost = 0
		}
		cell := min(up[j]+1, row[j-1]+1, up[j-1]+cost)
		if i > 1 && j > 1 && long[i-1] == short[j-2] && long[i-2] == short[j-1] {
			cell = min(cell, s.rows[(i-2)%3][j-2]+1)
		}
		row[j] = cell
		smallest = min(smallest, cell)
	}
	return smallest
}

// naturalCompare orders names by their letters, and numbers in them by their value.
func naturalCompare(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if isDigit(a[i]) && isDigit(b[j]) {
			var x, y float64
			x, i = leadingNumber(a, i)
			y, j = leadingNumber(b, j)
			if x != y {
				return cmp.Compare(x, y)
			}
			continue
		}
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
		i++
		j++
	}
	return len(a) - len(b)
}

// leadingNumber reads the number at index i and returns it with the index after it. A
// leading zero is a number of its own.
func leadingNumber(s string, i int) (float64, int) {
	n := 0.0
	for {
		n = n*10 + float64(s[i]-'0')
		i++
		if i >= len(s) || !isDigit(s[i]) || n == 0 {
			return n, i
		}
	}
}
