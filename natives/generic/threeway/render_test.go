package threeway_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

var update = flag.Bool("update", false, "write the golden files")

// A shop of everything that a plan can show, beside names that try to break out.
func shownInput(t testing.TB) threeway.Input {
	var table rules.Table
	if err := json.Unmarshal([]byte(`[
		{"at": "/location", "createOnly": "declared", "format": "location"},
		{"at": "/properties/zone", "createOnly": "inferred"},
		{"at": "/properties/old", "createOnly": "declared"},
		{"at": "/properties/state", "readOnly": true},
		{"at": "/properties/password", "writeOnly": true, "secret": true, "changed": true},
		{"at": "/properties/subnets", "list": "map", "keys": ["name"]},
		{"at": "/properties/ips", "list": "set"}
	]`), &table); err != nil {
		t.Fatal(err)
	}
	table[0].Rule.Ground, table[0].Rule.Place = "declared: x-ms-mutability has create and lacks update",
		"cache.json#/definitions/Cache"
	return threeway.Input{
		Applied: parse(t, []byte(`{"location": "westus", "tags": {"a": "1", "b": "2"},
			"properties": {"old": "x", "size": 3, "ips": ["10"], "subnets": [{"name": "a", "prefix": "1"}]}}`)),
		Desired: parse(t, []byte(`{"location": "eastus", "tags": {"a": "7", "x|y\n<b>@all": "|"}, "cleared": null,
			"properties": {"zone": "2", "state": "Succeeded", "size": 3, "password": "`+canary+`", "ips": ["11"],
				"subnets": [{"name": "a", "prefix": "1"}, {"name": "b", "prefix": "2"}]}}`)),
		Live: parse(t, []byte(`{"location": "westus", "tags": {"a": "1", "b": "9"}, "cleared": "1",
			"properties": {"old": "x", "size": 4, "ips": ["10"], "subnets": [{"name": "a", "prefix": "3", "nsg": "n"}]}}`)),
		Rules: table, WasApplied: true, IsThere: true,
	}
}

func TestRenderings(t *testing.T) {
	p := threeway.Make(shownInput(t))
	for name, write := range map[string]func(io.Writer) error{
		"plan.txt": p.WriteText, "plan.json": p.WriteJSON, "plan.md": p.WriteMarkdown,
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
			}
		})
	}
}

// The bodies to send hold secrets. No way to print a plan shows them.
func TestPrintedPlanHasNoBodies(t *testing.T) {
	in := shownInput(t)
	in.Desired = body.Merge(in.Desired, object{"location": "westus", "properties": object{"zone": nil, "state": nil}})
	p := threeway.Make(in)
	if p.Action != threeway.Update || !strings.Contains(body.Text(p.PutBody), canary) {
		t.Fatalf("the plan does not send the secret: %s", p)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(raw), fmt.Sprint(p), fmt.Sprintf("%v %+v %#v %s", p, p, p, p),
		fmt.Sprintf("%v", []any{p})} {
		if strings.Contains(shown, canary) {
			t.Errorf("a secret is shown: %s", shown)
		}
	}
}
