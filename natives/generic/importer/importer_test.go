package importer

import (
	"encoding/json"
	"math/rand/v2"
	"path"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

var ours = []string{"qontract-integration", "qontract-caller", "qontract-integration-version"}

func parsed(t testing.TB, text string) any {
	t.Helper()
	v, err := body.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type importCase struct {
	Input struct {
		Live        json.RawMessage
		Rules       rules.Table
		Integration string // whose marks are ours, as in all tests
		Caller      string
	}
	Expected struct {
		Body    json.RawMessage
		Blocked plan.FindingCode
	}
}

// checkMark checks that a resource with a mark of somebody else is not imported. Ours is that of generic.
func (c importCase) checkMark(t *testing.T) {
	live := parsed(t, string(c.Input.Live))
	tags, _ := body.Get(live, family.ARM.Marks)
	texts := map[string]string{}
	for name, value := range tags.(map[string]any) {
		texts[name], _ = value.(string)
	}
	mark := reconcile.MarkOfTags(texts)
	err := CheckMark(mark, reconcile.Mark{Integration: "generic", Caller: mark.Caller})
	if err == nil || !strings.Contains(err.Error(), string(c.Expected.Blocked)) ||
		!strings.Contains(err.Error(), mark.Integration) {
		t.Errorf("got %v, want %s with the name of the owner", err, c.Expected.Blocked)
	}
	for _, ours := range []reconcile.Mark{{}, {Integration: "generic", Caller: "c"}} {
		if err := CheckMark(ours, reconcile.Mark{Integration: "generic", Caller: "c"}); err != nil {
			t.Errorf("%+v: %v", ours, err)
		}
	}
}

func TestImportCases(t *testing.T) {
	shared.Each(t, "import", func(t *testing.T, c importCase) {
		if c.Expected.Blocked != "" {
			c.checkMark(t)
			return
		}
		live := parsed(t, string(c.Input.Live))
		got := Strip(live, c.Input.Rules, family.ARM, ours)
		if want := parsed(t, string(c.Expected.Body)); body.Canonical(got.Body) != body.Canonical(want) {
			t.Errorf("got %s, want %s", body.Text(got.Body), body.Text(want))
		}
		checkEmpty(t, live, got, c.Input.Rules)
	})
}

// checkEmpty checks the law: the plan right after an import is empty.
func checkEmpty(t *testing.T, live any, got Stripped, r rules.Rules) {
	t.Helper()
	applied := threeway.Remember(got.Body, r, []byte("key"))
	p := threeway.Make(threeway.Input{Applied: applied, WasApplied: true, Desired: got.Body, Live: live, IsThere: true,
		Rules: r, Key: []byte("key")})
	if p.Action != threeway.None || len(p.Violations) > 0 {
		t.Errorf("the plan after the import is %s: %+v %+v; the body is %s, live is %s", p.Action, p.Changes, p.Violations,
			body.Text(got.Body), body.Text(live))
	}
}

func TestStrip(t *testing.T) {
	table := rules.Table{
		{At: "/users", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}},
		{At: "/users/*/password", Rule: rules.Rule{Secret: true}},
		{At: "/users/*/id", Rule: rules.Rule{ReadOnly: true}},
		{At: "/apiKey", Rule: rules.Rule{Masked: true}},
		{At: "/data", Rule: rules.Rule{Secret: true}},
		{At: "/data/*", Rule: rules.Rule{Secret: true}},
		{At: "/window", Rule: rules.Rule{Atomic: true}},
		{At: "/items", Rule: rules.Rule{}},
		{At: "/items/*/at", Rule: rules.Rule{Volatile: true}},
		{At: "/hosts/*/list/*/token", Rule: rules.Rule{Masked: true}}, {At: "/one", Rule: rules.Rule{Atomic: true}},
		{At: "/one/inner/token", Rule: rules.Rule{Secret: true}},
		{At: "/hosts", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}},
	}
	live := parsed(t,
		`{"users":[{"name":"a","password":"canary","id":1},{"name":"b/c","password":"canary"}],"apiKey":"canary","data":{"x":"canary"},
		"window":{"from":"","to":null,"list":[]},"items":[{"at":1},{"at":2,"v":0}],"empty":{"a":{"b":[]}},"zero":0,"no":false,"text":"",
		"hosts":[{"name":"a","list":[{"token":"canary","x":1}]},{"name":"b","list":[{"x":1}]}],"one":{"x":1,"inner":{"token":"canary"}}}`)
	got := Strip(live, table, nil, nil)
	want := `{"hosts":[{"name":"a"},{"list":[{"x":1}],"name":"b"}],"items":[{},{"v":0}],"no":false,"text":"","users":[{"name":"a"},{"name":"b/c"}],"window":{"from":"","list":[],"to":null},"zero":0}`
	if body.Text(got.Body) != want {
		t.Errorf("got %s, want %s", body.Text(got.Body), want)
	}
	if want := []string{"/apiKey", "/data/x", "/users/name=a/password",
		"/users/name=b~1c/password"}; !reflect.DeepEqual(got.Secrets, want) {
		t.Errorf("got the secrets %q, want %q", got.Secrets, want)
	}
	if want := []string{"/hosts/name=a/list", "/one"}; !reflect.DeepEqual(got.Whole, want) {
		t.Errorf("left out as a whole: got %q, want %q", got.Whole, want)
	}
	checkEmpty(t, live, got, table)
	text, err := Entry{API: "/cloud/api.yml", Type: "T", ResourceID: "/t/x", Body: got.Body, Secrets: got.Secrets}.Text()
	if err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("the datafile shows a secret: %s, %v", text, err)
	}
}

// randomValue returns a value with whatever names and texts are awkward.
func randomValue(r *rand.Rand, depth int) any {
	words := []string{"", "a", "yes", "no", "1", "1e3", "0x1f", "null", "~", "- a", "a: b", "# c", "a\nb\n", " a", "é",
		"{}", "2020-01-01", "!!str x", "&a", "*a", "'", `"`, "\t", "a\x01", "\u2028", "<<", "="}
	numbers := []json.Number{"0", "-1", "1.5", "9007199254740991", "9007199254740993", "1e400", "0.1",
		"100000000000000000000000", "1.0", "-0"}
	switch n := r.IntN(6); {
	case n == 0 && depth > 0, n == 1 && depth > 0:
		out := map[string]any{}
		for range r.IntN(4) {
			out[words[r.IntN(len(words))]] = randomValue(r, depth-1)
		}
		return out
	case n == 2 && depth > 0:
		out := []any{}
		for range r.IntN(3) {
			out = append(out, randomValue(r, depth-1))
		}
		return out
	case n == 3:
		return numbers[r.IntN(len(numbers))]
	case n == 4:
		return []any{nil, true, false}[r.IntN(3)]
	}
	return words[r.IntN(len(words))]
}

// A datafile is read as it was meant, its bytes are always the same, and the plan over what was
// imported is empty.
func TestEntryLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		live := map[string]any{"body": randomValue(r, 4)}
		got := Strip(live, rules.None, nil, nil)
		checkEmpty(t, live, got, rules.None)
		e := Entry{API: "/a.yml", Type: "T@1", ResourceID: "/t/x: #y", Body: got.Body}
		text, err := e.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := e.Text()
		if err != nil || string(again) != string(text) {
			t.Fatalf("other bytes: %s %s %v", text, again, err)
		}
		var back struct {
			ResourceID string `yaml:"resourceId"`
			Body       any    `yaml:"body"`
			BodyText   string `yaml:"bodyText"`
		}
		if err := yaml.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		is, err := body.Of(back.Body)
		if back.BodyText != "" {
			is, err = body.Parse([]byte(back.BodyText))
		}
		if is == nil {
			is = map[string]any{}
		}
		if err != nil || body.Canonical(is) != body.Canonical(got.Body) || back.ResourceID != e.ResourceID {
			t.Fatalf("%s\nis read as %s, %v, and means %s", text, body.Text(is), err, body.Text(got.Body))
		}
	}
}

func TestFile(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"/a/b", "/a/B", "/a/b/c", "/x/b", "/a/" + strings.Repeat("n", 300), "/a/../../etc",
		"/a/..", "/a/.", "/a/con", "/a/é", "/a/a b", "/a/%2f", "/a/~"} {
		file := Entry{API: "/api.yml", Type: "P/t/sub@1", ResourceID: id}.File()
		if path.Clean("/"+file) != "/"+file || !strings.HasPrefix(file, "sub/") || strings.ContainsAny(file[4:], `/\ %~`) ||
			len(file) > 100 {
			t.Errorf("%s: %s", id, file)
		}
		if was := seen[file]; was != "" && !strings.EqualFold(was, id) {
			t.Errorf("%s and %s have one file", was, id)
		}
		seen[file] = id
	}
}

func TestText(t *testing.T) {
	got, err := Entry{API: "/cloud/api.yml", Type: "Microsoft.Cache/Redis@2018-03-01",
		ResourceID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Cache/Redis/r",
		Body:       parsed(t, `{"location":"West US","properties":{"port":1,"list":[{"b":"yes","a":1.50}],"on":true}}`),
		Secrets:    []string{"/properties/a\nb"}, Whole: []string{"/properties/users"}}.Text()
	const want = `---
$schema: /cloud/resource-1.yml
api:
  $ref: /cloud/api.yml
type: Microsoft.Cache/Redis@2018-03-01
resourceId: /subscriptions/s/resourceGroups/g/providers/Microsoft.Cache/Redis/r
body:
  location: West US
  properties:
    list:
      - a: 1.50
        b: "yes"
    "on": true
    port: 1
# These values are secrets and were left out. To manage one of them, say where it is kept:
# secrets:
# - at: "/properties/a\nb"
#   secret: {path: , field: , version: }
# Each of these is one value with a secret in it. They were left out, and stay as they are:
# - "/properties/users"
`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// What the specification does not allow is left out, with all of a value that is merged as one.
func TestRefuse(t *testing.T) {
	bad := rules.Rule{ReadOnly: true}
	typ := &validate.Checker{Rules: rules.Table{
		{At: "/a", Rule: bad}, {At: "/users", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}},
		{At: "/users/*/id", Rule: bad}, {At: "/items/*/x/at", Rule: bad},
		{At: "/one", Rule: rules.Rule{Atomic: true}}, {At: "/one/x", Rule: bad},
		{At: "/twice", Rule: rules.Rule{List: classes.Map, Keys: []string{"name"}}},
	}}
	s := Stripped{Body: parsed(t,
		`{"a": 1, "b": 1, "users": [{"name": "x", "id": 1}, {"name": "y"}], "items": [{"x": {}}, {"x": {"at": 1}}], "one": {"x": 1, "y": 1},
		"twice": [{"name": "x"}, {"name": "x"}], "deep": {"items": [{"v": 1}]}}`)}
	s.Refuse(typ)
	if want := `{"b":1,"deep":{"items":[{"v":1}]},"users":[{"name":"x"},{"name":"y"}]}`; body.Text(s.Body) != want {
		t.Errorf("got %s, want %s", body.Text(s.Body), want)
	}
	want := []Refusal{{"/a", "RO_SET"}, {"/items", "RO_SET"}, {"/one", "RO_SET"}, {"/twice", "DUPLICATE"},
		{"/users/0/id", "RO_SET"}}
	if !reflect.DeepEqual(s.Refused, want) {
		t.Errorf("got %v, want %v", s.Refused, want)
	}
	text, err := Entry{Refused: want[:1]}.Text()
	if err != nil || !strings.Contains(string(text), "# - \"/a\" # RO_SET\n") {
		t.Errorf("got %s, %v", text, err)
	}
}
