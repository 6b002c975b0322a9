package approvals

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/rules"
)

// A keepCase is what somebody approved, what is there now, and which approvals hold.
type keepCase struct {
	Input struct {
		Approved, Now     versionOf
		Roles             map[string]roleOf
		NowRoles          map[string]roleOf `json:"now_roles"`
		By                string
		Pushed, Commented any
		Viewed, Edited    any
	}
	Expected struct {
		Holds []string
		Lost  map[string]Reason
		Why   string
	}
}

type versionOf struct{ Base, Head map[string]json.RawMessage }

type roleOf struct{ Users, Paths []string }

// Approvals hold as the recorded cases say. For a value that is another one now, a case may have a word of its own.
func TestKeepCases(t *testing.T) {
	shared.Each(t, "owners_keep", func(t *testing.T, c keepCase) {
		now := c.Input.NowRoles
		if now == nil {
			now = c.Input.Roles
		}
		var b Book
		word := decision.Word{By: c.Input.By, Command: decision.Approve, At: time.Unix(12, 0)}
		b.Enter(word, Version{Head: "1a2b3c4"}, c.Input.Approved.cover(t, c.Input.Roles), nil)
		holding, lost := b.Compare(c.Input.Now.cover(t, now))
		holds, reasons := []string{}, map[string]Reason{}
		for _, s := range holding {
			holds = append(holds, s.File+" "+s.Place)
		}
		known := []Reason{New, Gone, Changed, BaseChanged, ApproverLost, NotCovered}
		for _, l := range lost {
			reasons[l.File+" "+l.Place] = l.Reason
			want := c.Expected.Lost[l.File+" "+l.Place]
			if want != "" && !slices.Contains(known, want) && (l.Reason == Changed || l.Reason == BaseChanged) {
				reasons[l.File+" "+l.Place] = want
			}
		}
		if !slices.Equal(holds, c.Expected.Holds) ||
			len(reasons)+len(c.Expected.Lost) > 0 && !reflect.DeepEqual(reasons, c.Expected.Lost) {
			t.Errorf("got %q and %q, want %q and %q", holds, reasons, c.Expected.Holds, c.Expected.Lost)
		}
	})
}

// cover covers the files of a version with roles that own paths of all files.
func (v versionOf) cover(t *testing.T, roles map[string]roleOf) []*coverage.File {
	t.Helper()
	var in rules.Input
	paths := slices.Sorted(maps.Keys(v.Head))
	for path := range v.Base {
		if _, isThere := v.Head[path]; !isThere {
			paths = append(paths, path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		in.Types = append(in.Types, rules.ChangeType{Name: name, ContextSchema: "/s.yml",
			Changes: []rules.ChangeRule{{Selectors: roles[name].Paths}}})
		role := rules.Role{Name: name, Binds: []rules.Bind{{Type: name}}}
		for _, user := range roles[name].Users {
			role.People = append(role.People, rules.Person{Name: user})
		}
		in.Roles = append(in.Roles, role)
	}
	r, faults := rules.Compile(in)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var files []*coverage.File
	for _, path := range paths {
		c := &content.Change{Ref: content.Ref{Kind: content.Datafile, Path: path, Schema: "/s.yml"},
			Old: decoded(t, v.Base[path]), New: decoded(t, v.Head[path])}
		if c.Compare(false); len(c.Differences) > 0 {
			files = append(files, coverage.Of(r, c, nil, nil))
		}
	}
	return files
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
