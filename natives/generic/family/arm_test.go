package family

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// armTypes returns the types of a small specification.
func armTypes(t testing.TB) *resources.Index {
	t.Helper()
	var paths []string
	const in = "/subscriptions/{s}/resourceGroups/{g}"
	for _, path := range []string{
		"/subscriptions/{s}", in, in + "/providers/A.B/things/{name}", in + "/providers/A.B/things/{thing}/parts/{part}",
		in + "/providers/A.B/things/{name}/services/default", in + "/providers/A.B/things/{name}/policy",
		"/{scope}/providers/A.C/locks/{name}", in + "/providers/A.B/zones/{zone}/{recordType}/{name}",
		"/providers/A.D/groups/{id}",
	} {
		paths = append(paths,
			fmt.Sprintf(`%q:{"parameters":[{"in":"path","name":"recordType","enum":["A","MX"]}],"get":{},"put":{}}`, path))
	}
	set := openapi.NewSet(func(name string, _ int64) ([]byte, error) {
		if name != "a.json" {
			return nil, fs.ErrNotExist
		}
		return []byte(`{"swagger":"2.0","info":{"version":"2020-01-01"},"paths":{` + strings.Join(paths, ",") + `}}`), nil
	}, openapi.Limits{})
	d, err := set.Document("a.json")
	if err != nil {
		t.Fatal(err)
	}
	return resources.NewIndex([]*openapi.Document{d})
}

func TestARMAddresses(t *testing.T) {
	index := armTypes(t)
	const rg = "/subscriptions/S/resourceGroups/G"
	const thing = rg + "/providers/A.B/things/T"
	for _, c := range []struct {
		name, of  string
		reference Reference
		path      string
		more      string // the parent, the root and the chain
		wrong     string
	}{
		{"in a group", "A.B/things", Reference{Parent: rg, Name: "T"}, thing,
			rg + " /subscriptions/s " + strings.ToLower(thing), ""},
		{"by its id, spelled otherwise", "A.B/things",
			Reference{ID: "/SUBSCRIPTIONS/S/resourcegroups/G/Providers/a.b/THINGS/T/"}, thing,
			rg + " /subscriptions/s " + strings.ToLower(thing), ""},
		{"a child", "A.B/things/parts", Reference{Parent: thing, Name: "p q"}, thing + "/parts/p%20q",
			thing + " /subscriptions/s " + strings.ToLower(thing), ""},
		{"a singleton", "A.B/things/services", Reference{Parent: thing}, thing + "/services/default",
			thing + " /subscriptions/s " + strings.ToLower(thing), ""},
		{"a singleton by its name", "A.B/things/services", Reference{Parent: thing, Name: "Default"},
			thing + "/services/default", thing + " /subscriptions/s " + strings.ToLower(thing), ""},
		{"a singleton without a name", "A.B/things/policy", Reference{Parent: thing}, thing + "/policy",
			thing + " /subscriptions/s " + strings.ToLower(thing), ""},
		{"a singleton of another name", "A.B/things/services", Reference{Parent: thing, Name: "x"}, "", "",
			`a singleton with the name "default"`},
		{"on anything", "A.C/locks", Reference{Parent: thing, Name: "l"}, thing + "/providers/A.C/locks/l",
			thing + " /subscriptions/s " + strings.ToLower(thing) + "/providers/a.c/locks/l", ""},
		{"on a subscription", "A.C/locks", Reference{Parent: "/subscriptions/S", Name: "l"},
			"/subscriptions/S/providers/A.C/locks/l", "/subscriptions/S /subscriptions/s /subscriptions/s/providers/a.c/locks/l",
			""},
		{"a record", "A.B/zones/MX", Reference{Parent: rg + "/providers/A.B/zones/z", Name: "@"},
			rg + "/providers/A.B/zones/z/MX/@", rg + "/providers/A.B/zones/z /subscriptions/s " + strings.ToLower(rg) +
				"/providers/a.b/zones/z", ""},
		{"a record of another type", "A.B/zones/MX", Reference{ID: rg + "/providers/A.B/zones/z/A/n"}, "", "",
			"is no address of A.B/zones/MX"},
		{"a group", "Microsoft.Resources/resourceGroups", Reference{Parent: "/subscriptions/S", Name: "G"}, rg,
			"/subscriptions/S /subscriptions/s " + strings.ToLower(rg), ""},
		{"outside of subscriptions", "A.D/groups", Reference{Name: "g"}, "/providers/A.D/groups/g",
			" /providers/a.d/groups/g /providers/a.d/groups/g", ""},
		{"in a subscription", "A.B/things", Reference{Parent: "/subscriptions/S", Name: "T"}, "", "",
			"is no address of A.B/things"},
		{"nothing", "A.B/things", Reference{Parent: rg}, "", "", "give parent and name, or resourceId"},
		{"both", "A.B/things", Reference{ID: thing, Name: "T"}, "", "", "not by both"},
		{"a step up", "A.B/things", Reference{Parent: rg + "/..", Name: "T"}, "", "", "a step up"},
		{"a slash", "A.B/things", Reference{Parent: rg, Name: "T/providers/X"}, "", "", "a character that no name can have"},
		{"a query", "A.B/things", Reference{Parent: rg, Name: "T?x=1"}, "", "", "a character that no name can have"},
		{"an escaped slash", "A.B/things", Reference{Parent: rg, Name: "T%2f.."}, "", "", "an escaped character"},
		{"a placeholder", "A.B/things", Reference{ID: "/subscriptions/{s}/resourceGroups/g/providers/A.B/things/T"}, "", "",
			"a placeholder"},
		{"no slash", "A.B/things", Reference{ID: "subscriptions/S"}, "", "", "does not begin with a slash"},
		{"an empty part", "A.B/things", Reference{Parent: "/subscriptions//x", Name: "T"}, "", "", "an empty part"},
		{"invalid UTF-8", "A.B/things", Reference{Parent: rg, Name: "T\xff"}, "", "", "a character that no name can have"},
		{"another direction", "A.B/things", Reference{Parent: rg, Name: "T\u202e"}, "", "",
			"a character that no name can have"},
		{"a control", "A.B/things", Reference{Parent: rg, Name: "T\u0085"}, "", "", "a character that no name can have"},
		{"a line", "A.B/things", Reference{Parent: rg, Name: "T\u2028"}, "", "", "a character that no name can have"},
		{"too long", "A.B/things", Reference{Parent: rg, Name: strings.Repeat("x", 400)}, "", "", "it is too long"},
	} {
		types, err := index.Find(c.of)
		if err != nil {
			t.Fatal(err)
		}
		a, err := ARM.Locate(types[0], c.reference)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) || len(err.Error()) > 500 {
				t.Errorf("%s: got %+v, %v, want %q", c.name, a, err, c.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join([]string{a.Parent, a.Root, a.Chain}, " "); a.URI() != c.path+"?api-version=2020-01-01" ||
			got != c.more {
			t.Errorf("%s: got %s and %q, want %s and %q", c.name, a.URI(), got, c.path, c.more)
		}
		if a.Key != strings.ToLower(a.ID) {
			t.Errorf("%s: got the key %s of %s", c.name, a.Key, a.ID)
		}
	}
}

// Whatever data say, an address stays below its parent, and what it is made of leads to it again.
func FuzzLocate(f *testing.F) {
	index := armTypes(f)
	f.Add("A.B/things", "/subscriptions/S/resourceGroups/G", "T")
	f.Add("A.C/locks", "/a/b/c/d", "x y")
	f.Add("A.B/zones/MX", "/subscriptions/S/resourceGroups/G/providers/A.B/zones/z", "@")
	f.Add("A.B/things/services", "/subscriptions/S/resourceGroups/G/providers/A.B/things/..", "")
	f.Fuzz(func(t *testing.T, of, parent, name string) {
		types, err := index.Find(of)
		if err != nil {
			return
		}
		a, err := ARM.Locate(types[0], Reference{Parent: parent, Name: name})
		if err != nil {
			return
		}
		if strings.Contains(a.Path, "/../") || strings.ContainsAny(a.Path, "?#\\ \n") ||
			strings.Contains(strings.ToLower(a.Path), "%2f") {
			t.Errorf("%q %q: got the path %q", parent, name, a.Path)
		}
		if !strings.HasPrefix(a.Key, ARM.Key(parent)) || !strings.HasPrefix(a.Key, a.Root) ||
			!strings.HasPrefix(a.Key, a.Chain) {
			t.Errorf("%q %q: got %+v", parent, name, a)
		}
		again, err := ARM.Locate(types[0], Reference{ID: a.ID})
		if err != nil || again.Path != a.Path || again.Key != a.Key || again.Parent != a.Parent {
			t.Errorf("%q %q: its id leads to %+v, %v, want %+v", parent, name, again, err, a)
		}
	})
}
