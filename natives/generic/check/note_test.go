package check_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
)

// A change of a value that the entry ignores has a note at the value, and fails nothing.
func TestIgnoredEdit(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{
		{At: "/location", Rule: rules.Rule{CreateOnly: rules.Declared, Format: "location"}},
		{At: "/password", Rule: rules.Rule{Secret: true, Masked: true}},
		{At: "/disks", Rule: rules.Rule{List: "map", Keys: []string{"lun"}}},
	}}
	const base = `{"location": "West US", "sku": {"capacity": 1, "name": "S"}, "disks": [{"lun": 0, "size": 1}, {"lun": 1, "size": 1}], "password": "a"}`
	for name, c := range map[string]struct {
		head   string
		ignore []string
		want   []string
	}{
		"edited": {`{"location": "West US", "sku": {"capacity": 2, "name": "S"}}`, []string{"/sku/capacity"},
			[]string{"/body/sku/capacity 1 → 2"}},
		"around it": {`{"location": "West US", "sku": {"capacity": 2, "name": "T"}}`, []string{"/sku"},
			[]string{"/body/sku/capacity 1 → 2", "/body/sku/name S → T"}},
		"create-only": {`{"location": "eastus"}`, []string{"/location"}, []string{"/body/location West US → eastus"}},
		"respelled":   {`{"location": "westus"}`, []string{"/location"}, nil},
		"removed":     {`{"sku": {"name": "S"}}`, []string{"/sku/capacity"}, []string{"/body/sku/capacity 1 → (none)"}},
		"in an item": {`{"disks": [{"lun": 1, "size": 2}, {"lun": 0, "size": 1}]}`, []string{"/disks/lun=1/size"},
			[]string{"/body/disks/0/size 1 → 2"}},
		"in all items": {`{"disks": [{"lun": 1, "size": 2}, {"lun": 0, "size": 3}]}`, []string{"/disks/*/size"},
			[]string{"/body/disks/1/size 1 → 3", "/body/disks/0/size 1 → 2"}},
		"a secret":         {`{"password": "b"}`, []string{"/password"}, []string{"/body/password (secret) → (secret)"}},
		"something else":   {`{"sku": {"capacity": 2}}`, []string{"/location"}, nil},
		"nothing ignored":  {`{"sku": {"capacity": 2}}`, nil, nil},
		"only the ignored": {base, []string{"/sku"}, nil},
	} {
		pair := check.Pair{Base: &cloud.Resource{Body: parse(t, base)}, Head: &cloud.Resource{Body: parse(t, c.head),
			Ignore: c.ignore}, Types: []*validate.Checker{typ}}
		var got []string
		for _, f := range pair.Check().Kept {
			if f.Code == check.CodeIgnored {
				got = append(got, fmt.Sprint(f.Pointer, " ", f.Change()))
			}
			if f.Fails() {
				t.Errorf("%s: %+v fails", name, f)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A resource of somebody else may have values that nobody knows: they are told before it is taken.
func TestUnknownOfTaken(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{{At: "/password", Rule: rules.Rule{WriteOnly: true}},
		{At: "/p/key", Rule: rules.Rule{WriteOnly: true}}}}
	for name, c := range map[string]struct {
		head *cloud.Resource
		want []string
	}{
		"taken":            {&cloud.Resource{Adopt: cloud.AdoptIfExists}, []string{"/p/key", "/password"}},
		"it must be there": {&cloud.Resource{Adopt: cloud.AdoptRequired}, []string{"/p/key", "/password"}},
		"one of the store": {&cloud.Resource{Adopt: cloud.AdoptRequired, Secrets: []cloud.Secret{{At: "/p/key"}}},
			[]string{"/password"}},
		"made by us":         {&cloud.Resource{Adopt: cloud.AdoptNever}, nil},
		"not written":        {&cloud.Resource{Adopt: cloud.AdoptIfExists, Policy: "observe"}, nil},
		"without an opinion": {&cloud.Resource{}, nil},
	} {
		c.head.Body = parse(t, `{"p": {"x": 1}}`)
		var got []string
		for _, f := range (check.Pair{Head: c.head, Types: []*validate.Checker{typ}}).Check().Kept {
			if f.Code != "UNKNOWN_VALUE" || f.Fails() {
				t.Errorf("%s: %+v", name, f)
			}
			got = append(got, f.Property)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A secret goes somewhere, before the merge by the same code as in a run.
func TestSecretPlaces(t *testing.T) {
	typ := &validate.Checker{Rules: rules.Table{{At: "/l", Rule: rules.Rule{List: "map", Keys: []string{"name"}}}}}
	for at, want := range map[string]bool{"/l/name=db/value": false, "/l/*/value": false, "/l/0/value": false,
		"/new/value": false, "/l/name=gone/value": true, "/l/3/value": true} {
		head := &cloud.Resource{Body: parse(t, `{"l": [{"name": "db"}]}`), Secrets: []cloud.Secret{{At: at}}}
		all := check.Pair{Head: head, Types: []*validate.Checker{typ}}.Check().Findings
		isTold := slices.ContainsFunc(all, func(f check.Finding) bool {
			return f.Code == "SECRET_PLACE" && f.Fails() && f.Pointer == "/secrets/0/at"
		})
		if isTold != want {
			t.Errorf("%s: got %+v", at, all)
		}
	}
}
