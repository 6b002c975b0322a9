package owners_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/qontract/bundle"
)

type object = map[string]any

// large makes a bundle of n datafiles with 600 change types and 600 roles; the first edited files have another value.
func large(tb testing.TB, n, edited int, reuse *bundle.Bundle) *bundle.Bundle {
	tb.Helper()
	data := object{}
	for i := range n {
		value := "old"
		if i < edited {
			value = "new"
		}
		data[fmt.Sprintf("/f/%d.yml", i)] = object{"$schema": fmt.Sprintf("/s-%d.yml", i%30), "name": fmt.Sprint(i),
			"v": value, "l": []any{"a", "b"}}
	}
	for i := range 600 {
		data[fmt.Sprintf("/t/%d.yml", i)] = object{"$schema": "/app-interface/change-type-1.yml", "name": fmt.Sprint("t", i),
			"contextType":   "datafile",
			"contextSchema": fmt.Sprintf("/s-%d.yml", i%30),
			"changes":       []any{object{"provider": "jsonPath", "jsonPathSelectors": []any{"v", "l[*]"}}}}
		data[fmt.Sprintf("/r/%d.yml", i)] = object{"$schema": "/access/role-1.yml", "name": fmt.Sprint("r", i),
			"self_service": []any{
				object{"change_type": object{"$ref": fmt.Sprintf("/t/%d.yml", i)},
					"datafiles": []any{object{"$ref": fmt.Sprintf("/f/%d.yml", i%30)}}}}}
		data[fmt.Sprintf("/u/%d.yml", i)] = object{"$schema": "/access/user-1.yml", "org_username": fmt.Sprint("u", i),
			"roles": []any{object{"$ref": fmt.Sprintf("/r/%d.yml", i)}}}
	}
	raw, err := json.Marshal(object{"data": data, "resources": object{}, "schemas": object{},
		"graphql": object{"confs": []any{}}, "git_commit": "", "git_commit_timestamp": ""})
	if err != nil {
		tb.Fatal(err)
	}
	b, err := bundle.Parse(raw, reuse)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// BenchmarkCheck is the time for ten changed files of 10,000, with 600 change types and roles.
func BenchmarkCheck(b *testing.B) {
	base := large(b, 10_000, 0, nil)
	head := large(b, 10_000, 10, base)
	b.ReportAllocs()
	for b.Loop() {
		r, err := owners.Check(owners.Input{Base: base, Head: head, Today: "2026-11-28"})
		if err != nil || len(r.Places) != 10 || r.Places[0].Status != owners.Owned {
			b.Fatal(err, len(r.Places))
		}
	}
}
