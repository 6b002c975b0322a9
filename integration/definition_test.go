package integration_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// defined returns a bundle with definitions at /0.yml, /1.yml and so on. Each argument has
// the JSON members of one definition after $schema.
func defined(t *testing.T, members ...string) *bundle.Bundle {
	t.Helper()
	files := []string{`"/other.yml":{"$schema":"/other-1.yml","name":"other"}`}
	for i, m := range members {
		files = append(files, fmt.Sprintf(`"/%d.yml":{"$schema":"/app-sre/integration-1.yml",%s}`, i, m))
	}
	b, err := bundle.Parse([]byte(`{"data":{`+strings.Join(files, ",")+`},"resources":{}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func list(t *testing.T, members ...string) []integration.Definition {
	t.Helper()
	l, err := integration.List(defined(t, members...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestListIsInNameOrder(t *testing.T) {
	got := list(t, `"name":"b"`, `"name":"a-long"`, `"name":"a"`, `"name":"A"`)
	var names []string
	for _, d := range got {
		names = append(names, d.Name+" "+string(d.Path))
	}
	if want := []string{"A /3.yml", "a /2.yml", "a-long /1.yml", "b /0.yml"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if got := list(t); len(got) != 0 {
		t.Errorf("got %v of a bundle without integrations", got)
	}
}

// One broken definition must not stop the plan for all others.
func TestListWithoutName(t *testing.T) {
	for name, member := range map[string]string{"none": `"schemas":[]`, "empty": `"name":""`, "another type": `"name":7`,
		"null": `"name":null`} {
		if got := list(t, `"name":"a"`, member); len(got) != 2 || got[0].Name != "/1.yml" {
			t.Errorf("%s: got %v, want the path as name", name, got)
		}
	}
}

func TestListRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		members []string
		want    string
	}{
		{"the path of one without a name", []string{`"name":"/1.yml"`, `"schemas":[]`},
			`two integrations are named "/1.yml": "/0.yml" and "/1.yml"; rename one`},
		{"two of one name", []string{`"name":"b"`, `"name":"a"`, `"name":"b"`},
			`two integrations are named "b": "/0.yml" and "/2.yml"; rename one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := integration.List(defined(t, c.members...), nil)
			if err == nil || err.Error() != c.want || got != nil {
				t.Errorf("got %v, %v, want the error %q", got, err, c.want)
			}
		})
	}
}

func TestListBySettings(t *testing.T) {
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\ndefinition_schema: /other-1.yml\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := integration.List(defined(t, `"name":"a"`), s)
	if err != nil || len(got) != 1 || got[0].Name != "other" {
		t.Errorf("got %v, %v, want the datafile of the schema that the settings name", got, err)
	}
}

// With a value of an unexpected type the integration runs.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, check string // the JSON of pr_check
		want        *integration.Check
	}{
		{"null", `null`, nil},
		{"empty", `{}`, &integration.Check{}},
		{"a command", `{"cmd":"users --x"}`, &integration.Check{Cmd: "users --x"}},
		{"a command of another type", `{"cmd":["users"]}`, &integration.Check{}},
		{"all of it", `{"cmd":"x","disabled":true,"always_run":true,"no_validate_schemas":true,"run_order":3}`,
			&integration.Check{Cmd: "x", Disabled: true, AlwaysRun: true, Unenforced: true, Order: 3}},
		{"false", `{"disabled":false,"always_run":false,"no_validate_schemas":false}`, &integration.Check{}},
		{"nulls", `{"cmd":null,"disabled":null,"always_run":null,"no_validate_schemas":null,"run_order":null}`,
			&integration.Check{}},
		{"text", `{"disabled":"true","always_run":"no","no_validate_schemas":"no"}`,
			&integration.Check{AlwaysRun: true, Unenforced: true}},
		{"numbers", `{"disabled":1,"always_run":0,"no_validate_schemas":0}`,
			&integration.Check{AlwaysRun: true, Unenforced: true}},
		{"how it is started",
			`{"state":true,"sqs":true,"early_exit":true,"check_only_affected_shards":true,"imageRef":"1a2b"}`,
			&integration.Check{State: true, SQS: true, EarlyExit: true, AffectedOnly: true, ImageRef: "1a2b"}},
		{"not how it is started",
			`{"state":false,"sqs":null,"early_exit":false,"check_only_affected_shards":null,"imageRef":null}`,
			&integration.Check{}},
		{"what is not sure runs to its end",
			`{"state":"yes","sqs":1,"early_exit":"true","check_only_affected_shards":1,"imageRef":7}`,
			&integration.Check{State: true, SQS: true}},
		{"a negative order", `{"run_order":-2}`, &integration.Check{Order: -2}},
		{"a broken order", `{"run_order":1.5}`, &integration.Check{}},
		{"an order as text", `{"run_order":"3"}`, &integration.Check{}},
		{"a huge order", `{"run_order":99999999999999999999}`, &integration.Check{}},
		{"the last of two keys", `{"disabled":true,"disabled":false}`, &integration.Check{}},
		{"text instead", `"users"`, &integration.Check{}},
		{"a list instead", `[]`, &integration.Check{}},
		{"true instead", `true`, &integration.Check{}},
		{"false instead", `false`, &integration.Check{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := list(t, `"name":"a","pr_check":`+c.check)[0].Check; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if got := list(t, `"name":"a"`)[0].Check; got != nil {
		t.Errorf("got %+v without pr_check, want none", got)
	}
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		name, members string
		want          []bundle.SchemaPath
	}{
		{"none", `"name":"a"`, nil},
		{"null", `"name":"a","schemas":null`, nil},
		{"in their order", `"name":"a","schemas":["/b","/a"]`, []bundle.SchemaPath{"/b", "/a"}},
		{"odd items", `"name":"a","schemas":["/a",7,null,["/b"],{"/c":1}]`, []bundle.SchemaPath{"/a"}},
		{"text instead", `"name":"a","schemas":"/a"`, nil},
		{"an object instead", `"name":"a","schemas":{"/a":true}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := list(t, c.members)[0]
			if !slices.Equal(d.Schemas, c.want) {
				t.Errorf("got %q, want %q", d.Schemas, c.want)
			}
			for _, s := range []bundle.SchemaPath{"/a", "/b", "/c", ""} {
				if got, want := d.Allows(s), slices.Contains(c.want, s); got != want {
					t.Errorf("allows %q: got %v, want %v", s, got, want)
				}
			}
		})
	}
}

func TestDifferingParts(t *testing.T) {
	const base = `"name":"a","schemas":["/a","/b"],"pr_check":{"cmd":"x","run_order":1},"managed":[{"spec":{}}]`
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"nothing", ``, ``, nil},
		{"a description", `"name"`, `"description":"new","name"`, nil},
		{"the order of keys", `{"cmd":"x","run_order":1}`, `{"run_order":1,"cmd":"x"}`, nil},
		{"the command", `"x"`, `"y"`, []string{"pr_check"}},
		{"a key that means nothing to us", `{"cmd"`, `{"sqs":true,"cmd"`, []string{"pr_check"}},
		{"no pr_check", `"pr_check"`, `"check"`, []string{"pr_check"}},
		{"null is not none", `"pr_check":{"cmd":"x","run_order":1}`, `"pr_check":null`, []string{"pr_check"}},
		{"a number as written", `"run_order":1`, `"run_order":1.0`, []string{"pr_check"}},
		{"the order of schemas", `["/a","/b"]`, `["/b","/a"]`, []string{"schemas"}},
		{"a schema more", `"/b"`, `"/b","/c"`, []string{"schemas"}},
		{"deep in managed", `{"spec":{}}`, `{"spec":{"cache":true}}`, []string{"managed"}},
		{"managed without items", `,"managed":[{"spec":{}}]`, `,"managed":[]`, []string{"managed"}},
		{"all", base, `"name":"a"`, []string{"pr_check", "schemas", "managed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, other := list(t, base)[0], list(t, strings.Replace(base, c.old, c.new, 1))[0]
			if got := one.DifferingParts(other); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if got := other.DifferingParts(one); !slices.Equal(got, c.want) {
				t.Errorf("back: got %v, want %v", got, c.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	all := &integration.Check{State: true, SQS: true, Unenforced: true, EarlyExit: true, AffectedOnly: true}
	tests := []struct {
		name        string
		check       *integration.Check
		mayLeaveOut bool
		want        []settings.Condition
	}{
		{"no pr_check", nil, true, nil},
		{"nothing", &integration.Check{}, true, []settings.Condition{}},
		{"all", all, true, []settings.Condition{settings.State, settings.SQS, settings.Unenforced, settings.EarlyExit,
			settings.AffectedOnly}},
		{"to its end", all, false, []settings.Condition{settings.State, settings.SQS, settings.Unenforced}},
		{"shards without early exit", &integration.Check{AffectedOnly: true}, true, []settings.Condition{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.check.Conditions(tt.mayLeaveOut); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
