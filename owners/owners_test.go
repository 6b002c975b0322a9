package owners_test

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// change returns the bundles of the example, with texts of head replaced in pairs.
func change(t testing.TB, replace ...string) owners.Input {
	t.Helper()
	raw, err := os.ReadFile("../examples/owners/base.json")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer(replace...).Replace(string(raw))
	if len(replace) > 0 && edited == string(raw) {
		t.Fatalf("%q replaces nothing", replace)
	}
	return owners.Input{Base: parsed(t, string(raw)), Head: parsed(t, edited), Today: "2026-11-28"}
}

func parsed(t testing.TB, text string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checked returns the report about a change.
func checked(t testing.TB, in owners.Input) *owners.Report {
	t.Helper()
	r, err := owners.Check(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// states returns the people of each place, or its state if it is nobody's.
func states(r *owners.Report) map[string]string {
	out := map[string]string{}
	for _, p := range r.Places {
		out[p.Name()] = strings.Join(p.People(), " ")
		if p.Status != owners.Owned {
			out[p.Name()] = string(p.Status)
		}
	}
	return out
}

func TestWhoMustApprove(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace []string
		want    map[string]string
	}{
		{"a place of one role", []string{"sells lamps", "sells chairs"},
			map[string]string{"/apps/shop.yml description": "ann bob"}},
		{"a place that another type lends", []string{"4Gi", "8Gi"},
			map[string]string{"/namespaces/shop.yml quota.memory": "ann bob cy"}},
		{"a place that no role is bound to", []string{`"onCall": "day"`, `"onCall": "night"`},
			map[string]string{"/apps/shop.yml onCall": "nobody"}},
		{"somebody joins a role", []string{`"roles": []`, `"roles": [{"$ref": "/roles/shop.yml"}]`},
			map[string]string{"/users/dan.yml roles.[0]": "ann bob"}},
		{"head makes a member, and the member changes a quota",
			[]string{`"roles": []`, `"roles": [{"$ref": "/roles/platform.yml"}]`, "4Gi", "8Gi"},
			map[string]string{"/users/dan.yml roles.[0]": "nobody", "/namespaces/shop.yml quota.memory": "ann bob cy"}},
		{"head lets a type allow more", []string{`"description",`, `"description", "onCall",`, `"onCall": "day"`,
			`"onCall": "night"`},
			map[string]string{"/apps/shop.yml onCall": "nobody",
				"/change-types/app.yml changes.[0].jsonPathSelectors.[1]": "nobody"}},
		{"a file moves", []string{`"/apps/shop.yml": {`, `"/apps/store.yml": {`, `"$ref": "/apps/shop.yml"`,
			`"$ref": "/apps/store.yml"`},
			map[string]string{"/apps/shop.yml $": "nobody", "/apps/store.yml $": "nobody",
				"/namespaces/shop.yml app.'$ref'": "nobody",
				"/apps/shop.yml description":      "ann bob", "/apps/shop.yml contacts.[0].hours": "ann bob",
				"/apps/shop.yml contacts.[1].hours":              "ann bob",
				"/roles/shop.yml self_service.[0].datafiles.[0]": "nobody"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := states(checked(t, change(t, c.replace...)))
			for name, state := range c.want {
				if got[name] != state {
					t.Errorf("%s: %q, want %q", name, got[name], state)
				}
			}
			for name, state := range got {
				if _, isThere := c.want[name]; !isThere && state != "nobody" {
					t.Errorf("%s: %q is not expected", name, state)
				}
			}
		})
	}
}

// Both ends of a move know each other.
func TestMove(t *testing.T) {
	r := checked(t, change(t, `"/users/dan.yml": {`, `"/users/don.yml": {`))
	want := map[string]string{"/users/dan.yml": "/users/don.yml", "/users/don.yml": "/users/dan.yml"}
	got := map[string]string{}
	for _, p := range r.Places {
		got[p.File] = p.Moved
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("moved %v, want %v", got, want)
	}
}

// Rules of base that cannot be used are an error with their place; rules of head are findings.
func TestBrokenRules(t *testing.T) {
	in := change(t, `"onCall"`+"\n", `"onCall["`+"\n")
	r := checked(t, in)
	if len(r.Findings) != 1 || r.Findings[0].Side != "head" || r.Findings[0].Pointer != "/changes/0/jsonPathSelectors/0" {
		t.Errorf("findings %+v", r.Findings)
	}
	in.Base, in.Head = in.Head, in.Base
	_, err := owners.Check(in)
	if wrong := (*owners.RulesError)(nil); !errors.As(err, &wrong) || wrong.Faults[0].File != "/change-types/on-call.yml" {
		t.Errorf("error %v", err)
	}
}

// Members whom another system knows are unknown, and not nobody.
func TestMemberSources(t *testing.T) {
	in := change(t)
	raw, err := os.ReadFile("../examples/owners/base.json")
	if err != nil {
		t.Fatal(err)
	}
	base := strings.NewReplacer(`"name": "shop",`+"\n      \"permissions\"",
		`"name": "shop", "memberSources": [{"group": "lamps"}],`+"\n      \"permissions\"",
		`"$ref": "/roles/shop.yml"`+"\n        }\n      ],\n      \"$file",
		`"$ref": "/roles/none.yml"`+"\n        }\n      ],\n      \"$file",
		`"$ref": "/roles/shop.yml"`+"\n        },\n        {\n          \"$ref\": \"/roles/platform.yml\"",
		`"$ref": "/roles/platform.yml"`).Replace(string(raw))
	in.Base, in.Head = parsed(t, base), parsed(t, strings.ReplaceAll(base, "sells lamps", "sells chairs"))
	r := checked(t, in)
	if len(r.Places) != 1 || r.Places[0].Status != owners.Unknown ||
		!slices.Equal(r.Ask.Unknown, []string{"/apps/shop.yml description"}) {
		t.Errorf("got %+v", r)
	}
}

func ExampleCheck() {
	raw, err := os.ReadFile("../examples/owners/base.json")
	if err != nil {
		panic(err)
	}
	base, err := bundle.Parse(raw, nil)
	if err != nil {
		panic(err)
	}
	head, err := bundle.Parse([]byte(strings.ReplaceAll(string(raw), "sells lamps", "sells chairs")), base)
	if err != nil {
		panic(err)
	}
	r, err := owners.Check(owners.Input{Base: base, Head: head, Today: "2026-11-28"})
	if err != nil {
		panic(err)
	}
	if err := owners.WriteText(os.Stdout, r); err != nil {
		panic(err)
	}
	// Output:
	// 1 place must be approved.
	//
	// /apps/shop.yml (/app-sre/app-1.yml)
	//   changed    description  shop: ann, bob
	//
	// Ask ann, or bob.
}

// Settings may take the order of lists for no content: the text then has any owner, and it is told what is not asked.
func TestIgnoredOrder(t *testing.T) {
	const base = `"/f.yml": {"$schema": "/s.yml", "$file_sha256sum": "1", "l": [1, 2], "v": 1}`
	with := func(file string) *bundle.Bundle {
		return parsed(t, `{"data": {`+file+`}, "resources": {}, "schemas": {}, "graphql": {"confs": []}, "git_commit": "", `+
			`"git_commit_timestamp": ""}`)
	}
	for _, c := range []struct {
		head   string
		ignore bool
		want   string
	}{
		{`"/f.yml": {"$schema": "/s.yml", "$file_sha256sum": "2", "l": [2, 1], "v": 1}`, false, "reordered l"},
		{`"/f.yml": {"$schema": "/s.yml", "$file_sha256sum": "2", "l": [2, 1], "v": 1}`, true, "text $, not l"},
		{`"/f.yml": {"$schema": "/s.yml", "$file_sha256sum": "2", "l": [2, 1], "v": 2}`, true, "changed v, not l"},
		{`"/f.yml": {"$schema": "/s.yml", "$file_sha256sum": "2", "l": [2, 1, 1], "v": 1}`, true, "added l.[2], not l"},
		{`"/f.yml": {"$schema": "/s.yml", "$file_sha256sum": "2", "l": [1, 2], "v": 2}`, true, "changed v"},
	} {
		r := checked(t, owners.Input{Base: with(base), Head: with(c.head), Today: "2026-11-28",
			Unordered: content.Unordered{All: c.ignore}})
		var got []string
		for _, p := range r.Places {
			got = append(got, p.Change+" "+p.Place)
		}
		for _, f := range r.Findings {
			if f.Side == "settings" && strings.Contains(f.Text, "nobody is asked about l, which is reordered") {
				got = append(got, "not l")
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.head, text, c.want)
		}
	}
}
