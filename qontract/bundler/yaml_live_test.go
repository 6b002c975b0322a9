package bundler

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Documents are read as PyYAML reads them, also broken ones.
func TestLiveYAML(t *testing.T) {
	shared.Ask(t, shared.Live{Name: "yaml", Peer: "PyYAML 6.0.3", Command: []string{"python3", "testdata/pyyaml_judge.py"},
		Cases: 8000, Same: readsSame, Deviates: refusesYAML,
		Input: func(r *rand.Rand) any {
			m := yamlMaker{r}
			text := strings.Repeat("---\n", r.IntN(2)) + m.block(0, 0)
			for r.IntN(3) == 0 {
				text = m.mutated(text)
			}
			return text
		}})
}

// refusesYAML returns the decision by which we refuse what PyYAML reads.
func refusesYAML(a shared.Answer, ours string) int {
	isMerge := strings.Contains(string(a.Input), "<<") || strings.Contains(string(a.Input), `\u003c\u003c`)
	if isMerge && strings.Contains(ours, "which JSON cannot express") && !a.IsRefused() {
		return 11 // a value that another key takes the place of
	}
	isListed := func(said string) bool { return strings.Contains(ours, said) }
	if !a.IsRefused() && slices.ContainsFunc(append(refusedOnPurpose, "keys cannot be sorted",
		"cannot be distinguished from text", "remove the tag"), isListed) {
		return 11
	}
	return 0
}

// A yamlMaker makes documents from a seed.
type yamlMaker struct{ *rand.Rand }

func (m yamlMaker) one(of ...string) string { return of[m.IntN(len(of))] }

// block returns the lines of a value, indented.
func (m yamlMaker) block(indent, depth int) string {
	pad := strings.Repeat(" ", indent)
	if depth > 3 || m.IntN(8) == 0 {
		return pad + m.inline(depth) + "\n"
	}
	var out strings.Builder
	isList := m.IntN(3) == 0
	for range 1 + m.IntN(3) {
		start := pad + m.key() + ":"
		if isList {
			start = pad + "-"
		}
		switch k := m.IntN(10); {
		case k < 3 && depth < 3:
			out.WriteString(start + m.one("", "", " &a", " !!map", " !!omap", " !!pairs", " !!seq", " # note", " *a") + "\n" +
				m.block(indent+1+m.IntN(3),
					depth+1))
		case k == 3:
			out.WriteString(start + " " + m.one("|", ">", "|-", ">+", "|2", ">-") + "\n" + pad + "   " + m.scalar() + "\n" +
				pad + "   " + m.scalar() + "\n")
		default:
			out.WriteString(start + " " + m.inline(depth) + m.one("", "", "", " # note", " ") + "\n")
		}
	}
	return out.String()
}

// inline returns a value on one line.
func (m yamlMaker) inline(depth int) string {
	switch k := m.IntN(12); {
	case k == 0 && depth < 4:
		return "[" + m.inline(depth+1) + m.one(", ", ",") + m.inline(depth+1) + m.one("", ", ") + "]"
	case k == 1 && depth < 4:
		return "{" + m.key() + ": " + m.inline(depth+1) + m.one("}", ", "+m.key()+": "+m.scalar()+"}")
	case k == 2:
		return m.one("&a ", "!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "&b ") + m.scalar()
	case k == 3:
		return m.one("*a", "*b")
	}
	return m.scalar()
}

func (m yamlMaker) key() string {
	return m.one("a", "b", "c", "d-e", "'f'", `"g"`, "labels", "a b", "<<", "1", "yes", "x: y", "? a", "é")
}

func (m yamlMaker) scalar() string {
	switch m.IntN(3) {
	case 0:
		return m.one("1", "-0", "0x1F", "010", "0o7", "1_000", "1e3", "1.0e+3", ".5", "1.", "+1", ".inf", "-.INF", ".nan",
			"12:30", "12:30:45.5",
			"0b11", "1.5", "9007199254740993", "08", "1__0", "-", "2020-01-01", "2020-01-01T00:00:00Z")
	case 1:
		return m.one("yes", "No", "ON", "off", "true", "False", "~", "null", "Null", "y", "n", "", "=", "<<", "TRUE", "nULL")
	}
	return m.one("text", "a text", "'it''s'", `"a\tb"`, `"\x41\u00e9"`, `"\/"`, "a: b", "a #b", "a# b", "x:y", "%a", "@a",
		"`a`", "a, b", "[", "'a", "é", "\"a\\\n  b\"",
		"!a b", "a - b", "- a", "? a", "|", ">", "a'b", `"😀"`)
}

// mutated returns a text with a part lost, doubled or moved, or with a sign too many.
func (m yamlMaker) mutated(text string) string {
	runes := []rune(text)
	from := m.IntN(len(runes) + 1)
	to := from + min(m.IntN(5), len(runes)-from)
	switch m.IntN(4) {
	case 0:
		return string(runes[:from]) + string(runes[to:])
	case 1:
		return string(runes[:to]) + string(runes[from:])
	}
	return string(runes[:from]) + m.one(" ", "\n", ":", ": ", "- ", "#", " #", "'", "\"", "\t", "[", "]", "{", "}", ",",
		"&a",
		"*a", "!", "|", ">", "---\n", "...\n", "\\", "%", "?", "\r\n", "\u0085") + string(runes[from:])
}
