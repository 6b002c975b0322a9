package baseline

import "slices"

// A place is a token of a line of a run on base.
type place struct{ line, token int }

// A noise is what differs between runs on base. Head never adds to it, so that no change
// can hide what it breaks.
type noise struct {
	values        map[place][]token // at each place that differs, the tokens of the runs on base
	contextValues map[place][]token // the same for the context of a line
	contexts      map[int]bool      // lines whose context differs in its words
	moved         map[int]bool      // lines whose order differs
	known         map[string]bool   // contexts that base has anywhere
	runs          int               // how many runs on base have the same words
}

// newNoise learns from runs on base. All places are those of the run at an index. Nothing
// is learned from a run that has other words.
func newNoise(at int, runs []record) noise {
	n := noise{map[place][]token{}, map[place][]token{}, map[int]bool{}, map[int]bool{}, map[string]bool{}, 1}
	first := runs[at]
	for _, r := range runs {
		for c := range r.contexts {
			n.known[c] = true
		}
	}
	for k, r := range runs {
		pairs, same := match(first.lines, r.lines, n)
		if !same || k == at {
			continue
		}
		n.runs++
		for i, j := range pairs {
			a, b := first.lines[i], r.lines[j]
			learn(n.values, i, a.tokens, b.tokens)
			if a.context.words == b.context.words {
				learn(n.contextValues, i, a.context.tokens, b.context.tokens)
			} else {
				n.contexts[i] = true
			}
		}
		for _, i := range pairs.moved() {
			n.moved[i] = true
		}
	}
	return n
}

// learn notes the tokens of a line that differ between two runs on base.
func learn(values map[place][]token, line int, a, b []token) {
	for k := range a {
		if a[k].text != b[k].text && a[k].isAlike(b[k]) {
			values[place{line, k}] = append(values[place{line, k}], a[k], b[k])
		}
	}
}

// covers reports whether a token of head differs from base as runs on base differ.
func covers(values map[place][]token, at place, t token) bool {
	return slices.ContainsFunc(values[at], t.isAlike)
}

// A difference is one thing in which head differs from the first run on base.
type difference struct {
	what     string // "a number", "a time", "an id", "the order of lines", "the line before it"
	line     int    // of base
	isNoise  bool   // runs on base differ there, too
	mayBe    bool   // a further run on base may show that it is noise
	ordering bool   // it is about the order of lines
}

// kindNames are the kinds of tokens in words.
var kindNames = map[kind]string{number: "a number", identifier: "an id", moment: "a time"}

// differences returns all differences between head and base, whose lines are paired.
func differences(base, head []line, pairs matching, n noise) []difference {
	var out []difference
	for i, j := range pairs {
		a, b := base[i], head[j]
		out = append(out, tokenDifferences(n.values, i, a.tokens, b.tokens)...)
		switch {
		case a.context.text() == b.context.text():
		case a.context.words == b.context.words:
			out = append(out, tokenDifferences(n.contextValues, i, a.context.tokens, b.context.tokens)...)
		default:
			known := n.known[b.context.text()]
			out = append(out, difference{what: "the INFO line before it", line: i, isNoise: known && n.contexts[i], mayBe: known,
				ordering: true})
		}
	}
	for _, i := range pairs.moved() {
		out = append(out, difference{what: "the order", line: i, isNoise: n.moved[i], mayBe: true, ordering: true})
	}
	return out
}

// tokenDifferences returns the differences between the tokens of two lines.
func tokenDifferences(values map[place][]token, line int, a, b []token) []difference {
	var out []difference
	for k := range a {
		if a[k].text != b[k].text {
			out = append(out, difference{what: kindNames[a[k].kind], line: line, isNoise: covers(values, place{line, k}, b[k]),
				mayBe: a[k].isAlike(b[k])})
		}
	}
	return out
}
