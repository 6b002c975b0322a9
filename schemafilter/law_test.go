package schemafilter_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// A maker makes random changes of small bundles.
type maker struct{ *rand.Rand }

func (m maker) schema() string { return fmt.Sprintf("/s/%c.yml", 'a'+m.IntN(5)) }

func (m maker) check() object {
	if m.IntN(6) == 0 {
		return nil
	}
	check := object{"cmd": "run"}
	for _, key := range []string{"disabled", "always_run", "no_validate_schemas"} {
		if m.IntN(8) == 0 {
			check[key] = true
		}
	}
	return check
}

func (m maker) base() side {
	s := side{data: map[string]object{}, resources: map[string]object{}, schemas: map[string]object{}}
	for i := range m.IntN(8) {
		name := fmt.Sprintf("int-%d", i)
		s.data["/i/"+fmt.Sprint(9-i)+".yml"] = definition(name, m.check(), m.schema(), m.schema())
	}
	for i := range 6 {
		s.data[fmt.Sprintf("/d/%d.yml", i)] = file(m.schema(), fmt.Sprintf("/r/%d", m.IntN(4)))
	}
	for i := range 4 {
		s.resources[fmt.Sprintf("/r/%d", i)] = m.resource()
	}
	return s
}

func (m maker) resource() object {
	if m.IntN(3) > 0 {
		return resource(fmt.Sprint(m.IntN(3)), m.schema())
	}
	return resource(fmt.Sprint(m.IntN(3)))
}

func (m maker) head(base side) side {
	s := base.clone()
	for range m.IntN(4) {
		path := fmt.Sprintf("/d/%d.yml", m.IntN(8))
		switch m.IntN(7) {
		case 0:
			delete(s.data, path)
		case 1:
			s.data[path] = file(m.schema(), m.IntN(9))
		case 2:
			s.resources[fmt.Sprintf("/r/%d", m.IntN(5))] = m.resource()
		case 3:
			s.schemas["/s/a.yml"] = object{"title": m.IntN(3)}
		case 4:
			delete(s.data, fmt.Sprintf("/i/%d.yml", 9-m.IntN(8)))
		case 5:
			i := m.IntN(8)
			s.data[fmt.Sprintf("/i/%d.yml", 9-i)] = definition(fmt.Sprintf("int-%d", i), m.check(), m.schema())
		case 6:
			if f, ok := s.data[path]; ok {
				s.data[path] = with(f, "$file_sha256sum", m.IntN(9))
			}
		}
	}
	return s
}

func (m maker) settings(t *testing.T) *settings.Settings {
	return readSettings(t, []string{
		"", "",
		`paths: {ignore: ["data/d/0.yml", "resources/**"]}`,
		`paths: {select: [{when: ["data/d/{1,2}.yml"], run: [int-0, int-3]}]}`,
		`trust: {new_integrations: true}`,
		`integrations: {int-0: {resources: none}, int-1: {resources: ["resources/r/{1,2}"]}}`,
	}[m.IntN(6)])
}

// stated gives queries to some integrations.
func (m maker) stated() []string {
	var out []string
	for i := range 8 {
		if m.IntN(3) == 0 {
			out = append(out, fmt.Sprintf("int-%d", i))
		}
	}
	return out
}

func TestLaws(t *testing.T) {
	ran := 0
	for i := range uint64(1500) {
		m := maker{rand.New(rand.NewPCG(i, 1))}
		base := m.base()
		head := m.head(base)
		b, h := base.bundle(t), head.bundle(t)
		s, stated := m.settings(t), m.stated()
		in := input(t, b, h, s, stated...)
		out := schemafilter.Filter(in)
		everyOnce(t, i, in, out)
		sound(t, i, in, out)
		moreChanges(t, i, m, in, out)
		anyOrder(t, i, m, base, head, s, stated, out)
		for _, o := range filter(t, b, b, s, stated...) {
			if !o.Decided || o.Conclusion.Action != plan.Skip {
				t.Errorf("seed %d: %s is not skipped though nothing changed: %+v", i, o.Name, o.Conclusion)
			}
		}
		for _, o := range out {
			if rank(o) > 0 {
				ran++
			}
		}
		if t.Failed() {
			return
		}
	}
	if ran < 1000 {
		t.Errorf("only %d integrations were not skipped: the generator is one-sided", ran)
	}
}

// everyOnce: every integration of either side exactly once, in name order,
// with all that a decision needs.
func everyOnce(t *testing.T, seed uint64, in schemafilter.Input, out []schemafilter.Outcome) {
	t.Helper()
	var got, want []string
	for _, o := range out {
		got = append(got, o.Name)
		c := o.Conclusion
		if c.Sentence() == "" || c.Rung == "" || len(c.Evidence.Definition) == 0 || o.Use == nil || o.Use.Name != o.Name {
			t.Errorf("seed %d: %+v is not whole", seed, o)
		}
		if o.Blocked.Code != "" && c.Action != plan.Run {
			t.Errorf("seed %d: %s is blocked and does not run: %+v", seed, o.Name, c)
		}
	}
	for _, d := range slices.Concat(in.Base, in.Head) {
		want = append(want, d.Name)
	}
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("seed %d: got %v, want %v", seed, got, want)
	}
}

// sound: whoever could see a change is not skipped for good.
func sound(t *testing.T, seed uint64, in schemafilter.Input, out []schemafilter.Outcome) {
	t.Helper()
	for _, o := range out {
		c := o.Use.Check
		if rank(o) > 0 || c == nil || c.Disabled || o.Conclusion.Rung != plan.RungSchema {
			continue
		}
		for _, f := range in.Changes.Files {
			if c.Unenforced || slices.ContainsFunc(f.Schemas, o.Use.Allows) {
				t.Errorf("seed %d: %s may read %s and is skipped: %+v", seed, o.Name, f.Path, o.Conclusion)
			}
			if f.Resource && !in.Settings.IsIgnored(f.Repo) && in.Settings.For(o.Name).Resources.Allow(string(f.Path)) {
				t.Errorf("seed %d: %s may ask for %s and is skipped: %+v", seed, o.Name, f.Path, o.Conclusion)
			}
		}
		if len(in.Changes.Types) > 0 {
			t.Errorf("seed %d: %s is skipped though %+v", seed, o.Name, in.Changes)
		}
	}
}

// rank orders outcomes: skipped, left to the next rungs, left to them with a
// concern, run.
func rank(o schemafilter.Outcome) int {
	switch {
	case o.Decided && o.Conclusion.Action == plan.Run:
		return 3
	case !o.Decided && o.Selected:
		return 2
	case !o.Decided:
		return 1
	}
	return 0
}

// moreChanges: one changed file more never makes less run.
func moreChanges(t *testing.T, seed uint64, m maker, in schemafilter.Input, out []schemafilter.Outcome) {
	t.Helper()
	schema := m.schema()
	in.Changes.Same = false
	in.Changes.Files = append(slices.Clone(in.Changes.Files), schemafilter.File{
		Path: "/d/1.yml", Repo: "data/d/1.yml", Schemas: []bundle.SchemaPath{bundle.SchemaPath(schema)},
	})
	for i, o := range schemafilter.Filter(in) {
		if rank(o) < rank(out[i]) {
			t.Errorf("seed %d: with a changed file of %s more, %+v becomes %+v", seed, schema, out[i], o)
		}
	}
}

// anyOrder: the order of files in the bundles decides nothing.
func anyOrder(t *testing.T, seed uint64, m maker, base, head side, s *settings.Settings, stated []string,
	want []schemafilter.Outcome) {
	t.Helper()
	if reflect.DeepEqual(base, head) {
		return // in another order they would not be the same bundle
	}
	got := filter(t, m.shuffled(t, base), m.shuffled(t, head), s, stated...)
	for i := range got {
		a, b := got[i], want[i]
		a.Base, a.Head, a.Use, b.Base, b.Head, b.Use = nil, nil, nil, nil, nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d: in another order\n%+v becomes\n%+v", seed, b, a)
		}
	}
}

// shuffled writes a bundle with its files in another order.
func (m maker) shuffled(t *testing.T, s side) *bundle.Bundle {
	t.Helper()
	write := func(files map[string]object) string {
		var members []string
		for path, o := range files { // in no order
			raw, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, fmt.Sprintf("%q:%s", path, raw))
		}
		slices.Sort(members)
		m.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ",") + "}"
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, `{"data":%s,"graphql":null,"resources":%s,"schemas":%s}`, write(s.data), write(s.resources),
		write(s.schemas))
	return parse(t, text.Bytes())
}
