package baseline

import (
	"cmp"
	"slices"
)

// maxGroup is how many lines of the same words are matched by their tokens. More lines are
// matched in their order.
const maxGroup = 200

// A matching pairs the lines of another run with those of the first run on base.
type matching []int // by index of a line on base, the index in the other run

// match pairs the lines of another run with those of base so that as little as possible
// differs. It returns false if the words of the lines are not the same on both sides.
// Tokens that are known to be noise do not count as a difference.
func match(base, other []line, n noise) (matching, bool) {
	if len(base) != len(other) {
		return nil, false
	}
	m := matcher{base: base, other: other, noise: n, pairs: make(matching, len(base)), taken: make([]bool, len(other)),
		left: len(base)}
	for i := range m.pairs {
		m.pairs[i] = -1
	}
	m.pairEqual(func(l line) string { return l.context.text() + "\x00\x00" + l.text() })
	m.pairEqual(func(l line) string { return l.context.words + "\x00\x00" + l.text() })
	m.pairSimilar(func(l line) string { return l.context.words + "\x00\x00" + l.words })
	m.pairEqual(line.text)
	m.pairSimilar(func(l line) string { return l.words })
	return m.pairs, m.left == 0
}

// hasSameWords reports whether two runs have lines of the same words, in any order.
func hasSameWords(a, b []line) bool { return len(a) == len(b) && hasWordsOf(a, b) }

// hasWordsOf reports whether a run has each line of another run, but for its tokens, at
// least as often.
func hasWordsOf(a, b []line) bool {
	count := map[string]int{}
	for _, l := range a {
		count[l.words]++
	}
	for _, l := range b {
		if count[l.words]--; count[l.words] < 0 {
			return false
		}
	}
	return true
}

// A matcher is a matching in the making.
type matcher struct {
	base, other []line
	noise       noise
	pairs       matching
	taken       []bool // by index in other
	left        int    // lines of base without a pair
}

func (m *matcher) pair(i, j int) {
	m.pairs[i], m.taken[j] = j, true
	m.left--
}

// open groups the lines of other without a pair by a key, in order.
func (m *matcher) open(key func(line) string) map[string][]int {
	out := map[string][]int{}
	if m.left == 0 {
		return out
	}
	for j, l := range m.other {
		if !m.taken[j] {
			out[key(l)] = append(out[key(l)], j)
		}
	}
	return out
}

// pairEqual pairs lines of the same key in their order.
func (m *matcher) pairEqual(key func(line) string) {
	open := m.open(key)
	for i, l := range m.base {
		if m.pairs[i] >= 0 || len(open) == 0 {
			continue
		}
		k := key(l)
		if js := open[k]; len(js) > 0 {
			m.pair(i, js[0])
			open[k] = js[1:]
		}
	}
}

// pairSimilar pairs lines of the same key, those with the fewest different tokens first.
func (m *matcher) pairSimilar(key func(line) string) {
	open := m.open(key)
	groups := map[string][]int{}
	var order []string
	for i, l := range m.base {
		if m.pairs[i] < 0 && len(open) > 0 {
			k := key(l)
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], i)
		}
	}
	for _, k := range order {
		m.pairGroup(groups[k], open[k])
	}
}

// pairGroup pairs lines of the same words.
func (m *matcher) pairGroup(is, js []int) {
	if len(is) > maxGroup || len(js) > maxGroup {
		for k := range min(len(is), len(js)) {
			m.pair(is[k], js[k])
		}
		return
	}
	type candidate struct{ i, j, differing, distance int }
	var all []candidate
	for a, i := range is {
		for b, j := range js {
			all = append(all, candidate{i, j, m.differing(i, j), max(a-b, b-a)})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.differing, b.differing), cmp.Compare(a.distance, b.distance), cmp.Compare(a.i, b.i))
	})
	for _, c := range all {
		if m.pairs[c.i] < 0 && !m.taken[c.j] {
			m.pair(c.i, c.j)
		}
	}
}

// differing counts the tokens that differ between two lines of the same words.
func (m *matcher) differing(i, j int) int {
	count := 0
	for k, t := range m.base[i].tokens {
		if t.text != m.other[j].tokens[k].text && len(m.noise.values[place{i, k}]) == 0 {
			count++
		}
	}
	return count
}

// moved returns the lines of base that stand before or after another line than in the
// other run.
func (p matching) moved() []int {
	smallest := make([]int, len(p)+1)
	smallest[len(p)] = len(p)
	for i := len(p) - 1; i >= 0; i-- {
		smallest[i] = min(smallest[i+1], p[i])
	}
	var out []int
	largest := 0
	for i, j := range p {
		if largest > j || smallest[i+1] < j {
			out = append(out, i)
		}
		largest = max(largest, j)
	}
	return out
}
