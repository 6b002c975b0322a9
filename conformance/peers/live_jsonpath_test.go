package peers

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Paths choose the values that jsonpath_ng chooses, in documents without null in objects, which qontract-reconcile
// leaves out.
func TestLiveJSONPath(t *testing.T) {
	shared.Ask(t, shared.Live{Name: "jsonpath", Peer: "jsonpath-ng 1.8.0", Cases: 3000,
		Command: []string{"python3", "testdata/jsonpath_judge.py"}, Same: choosesSame, Deviates: refusesPath,
		Input: func(r *rand.Rand) any {
			m := maker{r}
			path := m.path(0)
			if m.isOften(8) {
				path = m.mutated(path, "$.[](),*:?&|'`0a ")
			}
			return map[string]any{"path": path, "document": m.document(0)}
		}})
}

// refusesPath returns the decision by which we refuse what jsonpath_ng answers.
func refusesPath(a shared.Answer, ours string) int {
	for _, said := range []string{"arithmetic", "a dot must stand behind @", "means something else in Python",
		"the pattern of =~ cannot be used", "is not supported"} {
		if !a.IsRefused() && strings.Contains(ours, said) {
			return 85
		}
	}
	return 0
}

// document returns a document of few names, so that paths find something in it.
func (m maker) document(depth int) any {
	switch k := m.IntN(100); {
	case depth > 3 || depth > 1 && k < 25:
		return one[any](m, 0, 1, 2, 1.5, "", "x", "shop", "é", "7", true, false)
	case k < 60:
		out := map[string]any{}
		for range 1 + m.IntN(3) {
			out[m.member()] = m.document(depth + 1)
		}
		return out
	}
	out := make([]any, m.IntN(4))
	for i := range out {
		if out[i] = m.document(depth + 1); m.isOften(4) {
			out[i] = nil
		}
	}
	return out
}

func (m maker) member() string { return one(m, "a", "b", "name") }

func (m maker) path(depth int) string {
	out := one(m, "$", "@", "$", "`this`", "a", "name", "*")
	if depth < 2 && m.isOften(8) {
		out = "(" + m.path(depth+1) + ")"
	}
	return out + m.some(0, 4-depth, "", func() string { return m.pathStep(depth) })
}

func (m maker) pathStep(depth int) string {
	switch k := m.IntN(100); {
	case k < 36:
		return "." + one(m, "a", "b", "name", "*", "a,b", `"a"`, "'name'", "@")
	case k < 48:
		return one(m, ".`parent`", ".`this`", ".`len`", ".$")
	case k < 56:
		return one(m, "[0]", "[-1]", "[0,1]", "[5]", "[-9]", "[1,-1,0]", "[name]", "[a,b]")
	case k < 66:
		return one(m, "[*]", "[0:2]", "[::-1]", "[-2:]", "[1:]", "[:]", "[::2]", "[3:0:-1]", "[-9:9]")
	case k < 86 || depth > 2:
		return "[?" + m.some(1, 2, " & ", func() string { return m.condition(depth) }) + "]"
	case k < 92:
		return ".." + one(m, "a", "b", "*")
	}
	return one(m, " where ", " wherenot ", " | ", "|", " & ", "..") + m.path(depth+1)
}

func (m maker) condition(depth int) string {
	path := one(m, "@.", "@.", "", "$.") + m.member()
	switch k := m.IntN(100); {
	case k < 10 && depth < 3:
		return "(" + m.some(1, 2, " & ", func() string { return m.condition(depth + 1) }) + ")"
	case k < 30 && depth < 3:
		path = m.path(depth + 1)
	case k < 38 && depth < 3:
		path = "(" + m.path(depth+1) + ")"
	case k < 44:
		path = "@"
	}
	if m.isOften(30) {
		return path
	}
	return path + one(m, " = ", "==", " != ", "<", " >= ", " =~ ", "=~", "<=", ">") +
		one(m, "1", "2", "0", "-1", "1.5", "true", "false", `"x"`, `"^s"`, `"shop"`, "'7'", "name", "007", `""`,
			`"p$"`, `"[a-z]+"`, `"^(s|x)"`, "'[0-9]$'", `"^.$"`)
}
