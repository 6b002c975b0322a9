package effects_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
)

// written returns effects as the results have them.
func written(t *testing.T, e *plan.Effects) string {
	t.Helper()
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A secret stands in no field of an effect, also if it becomes known after the effect, is a number or a name, has
// characters that JSON escapes, or begins before the place at which its value is cut.
func TestNoSecretInFields(t *testing.T) {
	const quoted, number, late = `hun"ter\22`, "20261128", "late-canary-4711"
	m := mask.New([]string{quoted, number, "hunter22"})
	f := effects.NewFinder(nil, m)
	long := strings.Repeat("x", plan.MaxFieldValue-8) + late
	all := quoted + " " + late + " " + number + " hunter22"
	f.Announce(plan.Effect{Kind: plan.EffectChange, Subject: all, Type: all, Name: all, Target: all, Part: all,
		Action:       all,
		CauseUnknown: all, Text: all, Known: plan.Known{How: plan.KnownLive, Why: all},
		Cause: []plan.Cause{{Place: plan.Place{File: "/" + late + ".yml", Pointer: "/hunter22"}}},
		Changes: []plan.FieldChange{
			{Path: "/" + late, Reason: all, Old: raw(quoted), New: json.RawMessage(number)},
			{Path: "/b", Old: json.RawMessage(`{"a":["` + late + `"],"hunter22":1}`),
				New: json.RawMessage(`[` + number + `]`)},
			{Path: "/c", New: raw(long)},
			{Path: "/d", Old: raw(all), New: raw(all), Secret: true},
			{Path: "/e", New: json.RawMessage(`not json ` + late)},
		}})
	f.ReadFile(strings.NewReader(`{"kind":"change","subject":"x","changes":[{"path":"/hunter22","new":` + number +
		`,"old":"late-canary-4711"}],"text":"` + late + `"}`))
	m.Add(late)
	e := f.Effects()
	got := written(t, e)
	for _, secret := range []string{quoted, `hun\"ter`, number, late, "late-can", "hunter22"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q stands in %s", secret, got)
		}
	}
	if n := len(e.Items[1].Changes); n != 5 || len(e.Items) != 2 {
		t.Errorf("got %d effects, %d changes", len(e.Items), n)
	}
	for _, c := range e.Items[1].Changes {
		if c.Secret && (c.Old != nil || c.New != nil) {
			t.Errorf("a secret has values: %+v", c)
		}
	}
}

func raw(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return out
}

// Long values, many changes and many causes are cut, and each cut is told.
func TestBoundsOfFields(t *testing.T) {
	f := effects.NewFinder(nil, mask.New(nil))
	e := plan.Effect{Kind: plan.EffectChange, Subject: "x", Known: plan.Known{How: plan.KnownLive}}
	for i := range 70 {
		e.Changes = append(e.Changes, plan.FieldChange{Path: fmt.Sprintf("/%03d", 70-i), New: json.RawMessage("null")})
		e.Cause = append(e.Cause, plan.Cause{Place: plan.Place{File: fmt.Sprintf("/%d.yml", i)}})
	}
	e.Changes[69].Old, e.Changes[69].New = raw(strings.Repeat("ä", 300)), json.RawMessage("1")
	f.Announce(e)
	got := f.Effects().Items[0]
	if len(got.Changes) != 50 || got.ChangesBeyond != 20 || len(got.Cause) != 5 || got.CauseBeyond != 65 {
		t.Errorf("got %d changes and %d more, %d causes and %d more", len(got.Changes), got.ChangesBeyond, len(got.Cause),
			got.CauseBeyond)
	}
	var begin string
	if err := json.Unmarshal(got.Changes[0].Old, &begin); err != nil || len(begin) > plan.MaxFieldValue ||
		!strings.HasPrefix(begin, `"ää`) || got.Changes[0].Cut == nil || got.Changes[0].Cut.Old != 602 {
		t.Errorf("got %+v, %v", got.Changes[0], err)
	}
	if string(got.Changes[1].New) != "null" || got.Changes[1].Old != nil {
		t.Errorf("null is a value, and no value is none: %+v", got.Changes[1])
	}
}

// Effects that are too large together lose texts first, then changes, and deletions keep theirs longest.
func TestAllEffectsFit(t *testing.T) {
	f := effects.NewFinder(nil, mask.New(nil))
	for i := range 2000 {
		e := plan.Effect{Kind: plan.EffectChange, Subject: fmt.Sprint("thing ", i), Known: plan.Known{How: plan.KnownLive},
			Text: strings.Repeat("x", 100)}
		if i%100 == 0 {
			e.Kind = plan.EffectDelete
		}
		for k := range 10 {
			e.Changes = append(e.Changes, plan.FieldChange{Path: fmt.Sprint("/", k), New: raw(strings.Repeat("y", 200))})
		}
		f.Announce(e)
	}
	got := f.Effects()
	if n := len(written(t, got)); n > 1<<20+1<<16 || len(got.Items) != 2000 {
		t.Errorf("got %d items in %d bytes", len(got.Items), n)
	}
	beyond := 0
	for _, item := range got.Items {
		if item.Kind == plan.EffectDelete && len(item.Changes) != 5 {
			t.Errorf("a deletion has %d changes", len(item.Changes))
		}
		beyond += item.ChangesBeyond
	}
	if got.Cut == nil || got.Cut.Texts != 2000 || got.Cut.Changes != beyond || beyond == 0 {
		t.Errorf("cut %+v, and %d changes are missing", got.Cut, beyond)
	}
}

// A line of JSON may have each field of an effect but how it is known and since when; what it may not have is told.
func TestFieldsOfPrograms(t *testing.T) {
	f := effects.NewFinder(nil, mask.New(nil))
	f.ReadFile(strings.NewReader(`{"kind":"change","subject":"quota","type":"Quota","name":"q","target":"https://a","part":"p",` +
		`"action":"raise","changes":[{"path":"/max","old":1,"new":null}],"since":"pending","known":{"how":"live"},"times":3,` +
		`"cause":[{"file":"/a.yml","pointer":"/max","line":7}]}
{"kind":"change","subject":"quota","changes":[{"path":"/min","new":2}]}
{"kind":"delete","subject":"x","changes":7}`))
	got := written(t, f.Effects())
	want := `{"items":[{"kind":"delete","subject":"x","known":{"how":"said"}},` +
		`{"kind":"change","subject":"quota","type":"Quota","name":"q","target":"https://a","part":"p","action":"raise",` +
		`"cause":[{"file":"/a.yml","pointer":"/max"}],` +
		`"changes":[{"path":"/max","old":1,"new":null},{"path":"/min","new":2}],"times":3,"known":{"how":"said"}}],` +
		`"problems":["line 1 of the file {effects}: an effect of a program has no field \"known\"",` +
		`"line 1 of the file {effects}: an effect of a program has no field \"since\"",` +
		`"line 3 of the file {effects}: the field \"changes\" has another form than an effect"]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A rule may name what changes; lines about one thing are one effect.
func TestNamedGroups(t *testing.T) {
	s, err := settings.Read("prcheck.yaml", []byte(`version: 1
effects:
  rules:
    - match: '^(?P<type>\w+) (?P<name>\w+) at (?P<target>\S+): (?P<path>\S+) (?P<old>\S+) to (?P<new>\S+)$'
      kind: change
      subject: '$type $name'
`))
	if err != nil {
		t.Fatal(err)
	}
	got := written(t, find(t, s.For("any").Effects, "quota dev at north: /max 1 to 2\nquota dev at north: /min 0 to 1\n"))
	want := `{"items":[{"kind":"change","subject":"quota dev","type":"quota","name":"dev","target":"north",` +
		`"changes":[{"path":"/max","old":"1","new":"2"},{"path":"/min","old":"0","new":"1"}],` +
		`"known":{"how":"said"},"text":"quota dev at north: /max 1 to 2"}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The effects of a thing that is to change anyway are new for what the change adds to it.
func TestCompareFields(t *testing.T) {
	change := func(fields ...string) *plan.Effects {
		e := plan.Effect{Kind: plan.EffectChange, Subject: "x", Target: "t", Known: plan.Known{How: plan.KnownLive}}
		for _, f := range fields {
			path, to, _ := strings.Cut(f, "=")
			e.Changes = append(e.Changes, plan.FieldChange{Path: path, New: raw(to)})
		}
		return &plan.Effects{Items: []plan.Effect{e}}
	}
	for _, c := range []struct {
		head, base *plan.Effects
		want       string
	}{
		{change("/a=1", "/b=2"), change("/b=2"), "new /a pending /b"},
		{change("/b=2"), change("/a=1", "/b=2"), "pending /b gone /a"},
		{change("/a=1"), change("/a=2"), "new /a gone /a"},
		{change("/a=1"), change("/a=1"), "pending /a"},
		{change("/a=1", "/b=2"), change("/b=2", "/c=3"), "new /a pending /b gone /c"},
	} {
		var words []string
		for _, item := range effects.Compare(c.head, c.base).Items {
			words = append(words, string(item.Since))
			for _, field := range item.Changes {
				words = append(words, field.Path)
			}
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
