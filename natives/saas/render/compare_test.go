package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// outputOf returns an output with these objects, as JSON, and masked places of all of them.
func outputOf(t *testing.T, objects string, masked ...string) Output {
	t.Helper()
	var out Output
	if err := json.Unmarshal([]byte(objects), &out.Objects); err != nil {
		t.Fatal(err)
	}
	for range out.Objects {
		out.Masked = append(out.Masked, masked)
	}
	return out
}

func TestCompare(t *testing.T) {
	object := func(rest string) string {
		return `[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},` + rest + `}]`
	}
	for _, c := range []struct {
		name, base, head string
		masked           []string // of base and head
		want             string
	}{
		{"nothing", object(`"spec":{"a":[1,{"b":null}]}`), object(`"spec":{"a":[1,{"b":null}]}`), nil, `null`},
		{"another value", object(`"spec":{"a":1,"b":"x"}`), object(`"spec":{"a":2,"b":"x"}`), nil, `/spec/a: 1 -> 2`},
		{"a value more and one less", object(`"spec":{"a":1}`), object(`"spec":{"b":{"c":"<"}}`), nil,
			`/spec/a: 1 -> |/spec/b:  -> {"c":"<"}`},
		{"another type", object(`"spec":[1]`), object(`"spec":"[1]"`), nil, `/spec: [1] -> "[1]"`},
		{"containers by name", object(`"c":[{"name":"a","i":1},{"name":"b","i":1}]`),
			object(`"c":[{"name":"b","i":2},{"name":"a","i":1},{"name":"d"}]`), nil, `/c/0/i: 1 -> 2|/c/2:  -> {"name":"d"}`},
		{"containers in another order", object(`"c":[{"name":"a"},{"name":"b"}]`), object(`"c":[{"name":"b"},{"name":"a"}]`),
			nil, `/c: in another order -> in this order`},
		{"items by position", object(`"c":[1,2,3]`), object(`"c":[1,3]`), nil, `/c/1: 2 -> 3|/c/2: 3 -> `},
		{"a secret", object(`"a":"old","b":1`), object(`"a":"new","b":1`), []string{"/a"}, `/a: *** -> ***`},
		{"a secret that stays", object(`"a":"old","b":1`), object(`"a":"old","b":2`), []string{"/a"}, `/b: 1 -> 2`},
		{"a place above a secret", object(`"a":{"b":["old"]}`), object(`"c":1`), []string{"/a/b/0"}, `/a: *** -> |/c:  -> 1`},
		{"a place below a secret", object(`"a":{"old":1}`), object(`"a":{"new":1}`), []string{"/a"}, `/a: *** -> ***`},
		{"a place beside a secret", object(`"a":1,"ab":1`), object(`"a":1,"ab":2`), []string{"/a"}, `/ab: 1 -> 2`},
		{"a whole object", object(`"a":1`), object(`"a":2`), []string{""}, `: *** -> ***`},
		{"data of a Secret", `[{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"p":"old"},"type":"x"}]`,
			`[{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"p":"new"},"type":"y"}]`, nil,
			`/data/p: *** -> ***|/type: "x" -> "y"`},
		{"objects that come and go", `[{"kind":"A","apiVersion":"v1","metadata":{"name":"x"}}]`,
			`[{"kind":"A","apiVersion":"g/v1","metadata":{"name":"x"}}]`, nil, `delete A/x;create A.g/x`},
		{"an object with a secret name", `[]`, `[{"kind":"A","apiVersion":"v1","metadata":{"name":"x"}}]`,
			[]string{"/metadata/name"}, `create A/***`},
		{"a long value", object(`"a":"` + strings.Repeat("é", 200) + `"`), object(`"a":1`), nil,
			`/a: "` + strings.Repeat("é", 59) + `… -> 1`},
	} {
		var parts []string
		for _, change := range Compare(outputOf(t, c.base, c.masked...), outputOf(t, c.head, c.masked...)) {
			if change.Action != Change {
				group := ""
				if change.Group != "" {
					group = "." + change.Group
				}
				parts = append(parts, string(change.Action)+" "+change.Kind+group+"/"+change.Name)
				continue
			}
			var fields []string
			for _, f := range change.Changes {
				fields = append(fields, f.Path+": "+f.Old+" -> "+f.New)
			}
			parts = append(parts, strings.Join(fields, "|"))
		}
		got := strings.Join(parts, ";")
		if parts == nil {
			got = "null"
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCompareIsBounded(t *testing.T) {
	many := func(value string) string {
		var fields []string
		for i := range 200 {
			fields = append(fields, `"f`+strings.Repeat("x", i)+`":`+value)
		}
		return `[{"kind":"A","apiVersion":"v1","metadata":{"name":"x"},` + strings.Join(fields, ",") + `}]`
	}
	got := Compare(outputOf(t, many("1")), outputOf(t, many("2")))[0].Changes
	if len(got) != maxChanges+1 || got[maxChanges].New != "and 150 more" {
		t.Errorf("got %d changes, the last %v", len(got), got[len(got)-1])
	}
}

// A secret is compared by where it is kept: that its value equals the one of base is not told.
func TestCompareByReference(t *testing.T) {
	const object = `[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":%q}}]`
	base := outputOf(t, fmt.Sprintf(object, "guess"))
	for _, value := range []string{"guess", "other"} {
		head := outputOf(t, fmt.Sprintf(object, value), "/data/a")
		head.Hidden = outputOf(t, fmt.Sprintf(object, "(secret)")).Objects
		changes := Compare(base, head)
		if len(changes) != 1 || len(changes[0].Changes) != 1 || changes[0].Changes[0].Path != "/data/a" ||
			changes[0].Changes[0].New != mask {
			t.Errorf("%s: got %+v", value, changes)
		}
		if again := Compare(head, head); len(again) > 0 {
			t.Errorf("%s: the same secret is a change: %+v", value, again)
		}
	}
}
