package affected

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A grouping says which shards stand together in which elements.
type grouping [][]string

// randomGrouping puts some shards into a few elements. A shard is a key and a value, and
// may stand in several elements.
func randomGrouping(r *rand.Rand) grouping {
	g := make(grouping, 1+r.IntN(3))
	for i := range g {
		for range r.IntN(3) {
			g[i] = append(g[i], fmt.Sprintf(`{"key":"k%d","val":"%d"}`, r.IntN(4), r.IntN(2)))
		}
	}
	return g
}

// regroup moves or swaps shards between elements; sometimes it changes one instead.
func (g grouping) regroup(r *rand.Rand) grouping {
	out := make(grouping, len(g))
	for i := range g {
		out[i] = append([]string{}, g[i]...)
	}
	a, b := r.IntN(len(g)), r.IntN(len(g))
	if len(out[a]) == 0 {
		return out
	}
	i := r.IntN(len(out[a]))
	switch {
	case r.IntN(4) == 0:
		out[a][i] = fmt.Sprintf(`{"key":"k%d","val":"%d"}`, r.IntN(4), r.IntN(2))
	case len(out[b]) > 0 && r.IntN(2) == 0:
		j := r.IntN(len(out[b]))
		out[a][i], out[b][j] = out[b][j], out[a][i]
	default:
		moved := out[a][i]
		out[a] = append(out[a][:i], out[a][i+1:]...)
		out[b] = append(out[b], moved)
	}
	return out
}

// bundle makes a bundle with one datafile for each element.
func (g grouping) bundle(t *testing.T) *bundle.Bundle {
	t.Helper()
	var files []string
	for i, shards := range g {
		files = append(files, fmt.Sprintf(`"/g%d.yml":{"$schema":"/a-1.yml","num":1,"inlines":[%s]}`, i,
			strings.Join(shards, ",")))
	}
	return parseCorners(t, `{"data":{`+strings.Join(files, ",")+`},"resources":{},"graphql":[`+
		`{"name":"Inline","fields":[{"name":"key","type":"string"},{"name":"val","type":"string"}]},`+
		`{"name":"A","fields":[{"name":"num","type":"int"},{"name":"inlines","type":"Inline","isList":true}]},`+
		`{"name":"Query","fields":[{"name":"warehouses","type":"A","isList":true,"datafileSchema":"/a-1.yml"}]}]}`, nil)
}

// view returns what a program of a shard can see: every element in which its key stands.
func (g grouping) view(key string) string {
	var out []string
	for _, shards := range g {
		if text := strings.Join(sorted(shards, settings.OrderIgnored), ","); strings.Contains(text, `"`+key+`"`) {
			out = append(out, text)
		}
	}
	return strings.Join(sorted(out, settings.OrderIgnored), "\n")
}

// When a task sees the same in two changes that regroup shards, then neither their bases
// nor their heads differ in anything for which the ladder would run it, and a program
// sees the same elements.
func TestRegroupedShardsAreSeen(t *testing.T) {
	by, err := settings.ParseSelector("warehouses[*].inlines[*].key")
	if err != nil {
		t.Fatal(err)
	}
	const text = "{ warehouses { num inlines { key val } } }"
	same, differ, regrouped := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // repeatable
		base := randomGrouping(r)
		var groups [2][2]grouping // by change: base and head
		var sides [2][2]*bundle.Bundle
		for i := range groups {
			groups[i][0] = base
			for range r.IntN(3) {
				groups[i][0] = groups[i][0].regroup(r)
			}
			groups[i][1] = groups[i][0].regroup(r)
			for j := range groups[i] {
				sides[i][j] = groups[i][j].bundle(t)
			}
		}
		for _, shard := range []string{"", "k0", "k1", "k2"} {
			a, okA := seenFrom(t, sides[0], text, by, shard)
			b, okB := seenFrom(t, sides[1], text, by, shard)
			if !okA || !okB {
				t.Fatalf("seed %d: nothing is seen", seed)
			}
			if a != b {
				differ++
				continue
			}
			same++
			for side, name := range []string{"base", "head"} {
				d := judged(t, sides[0][side], sides[1][side], text, by)
				was, is := groups[0][side].view(shard), groups[1][side].view(shard)
				if mustRun(d, shard) || shard != "" && was != is {
					t.Errorf("seed %d, shard %q of %s sees the same, and yet: %s\n%s\n%s", seed, shard, name, d.Sentence(), was, is)
				}
			}
		}
		for side := range 2 {
			if strings.Contains(judged(t, sides[0][side], sides[1][side], text, by).Reason.Text, "cannot be told apart") {
				regrouped++
			}
		}
	}
	t.Logf("%d saw the same, %d did not, %d only regrouped", same, differ, regrouped)
	if same == 0 || differ == 0 || regrouped == 0 {
		t.Error("the changes are one-sided")
	}
}

// Elements whose key cannot be used belong to every shard, and so does which of them
// stand together.
func TestRegroupedUnkeyedElementsAreSeen(t *testing.T) {
	by, err := settings.ParseSelector("a[*].b[*].c[*].key")
	if err != nil {
		t.Fatal(err)
	}
	selectors := []settings.Selector{by}
	m := maker{Rand: rand.New(rand.NewPCG(1, 1)), selectors: selectors} //nolint:gosec // repeatable
	unkeyed := func(n int) any {
		return map[string]any{"c": []any{map[string]any{"key": "j"}, map[string]any{"key": n}}}
	}
	together := func(groups ...[]any) []any {
		list := []any{map[string]any{"b": []any{map[string]any{"c": []any{map[string]any{"key": "k"}}}}}}
		for _, g := range groups {
			list = append(list, map[string]any{"b": g})
		}
		return m.real([]any{map[string]any{"a": list}})
	}
	base := together([]any{unkeyed(7), unkeyed(8)}, []any{unkeyed(9), unkeyed(10)})
	head := together([]any{unkeyed(7), unkeyed(9)}, []any{unkeyed(8), unkeyed(10)})
	if a := Attribute(base, head, selectors, settings.OrderIgnored); a.Why == "" {
		t.Fatalf("got %+v, want a full run", a)
	}
	if viewsOf(base, selectors).of("k") == viewsOf(head, selectors).of("k") {
		t.Error("a full run, and yet shard k sees the same")
	}
}
