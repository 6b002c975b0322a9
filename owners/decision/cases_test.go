package decision_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
)

// A worldCase is a small world, and what is decided in it.
type worldCase struct {
	Input    world
	Expected struct {
		Error             string
		Files             map[string]caseFile
		AllCovered        *bool `json:"all_covered"`
		Approved          *bool
		Hold              *bool
		Admitted          *bool
		Priority          json.RawMessage
		ChangeOwnerLabels []string `json:"change_owner_labels"`
		Needs             map[string]string
		Why               string
		Upstream          json.RawMessage
	}
}

// A caseFile is what is decided about a file.
type caseFile struct {
	MetadataOnly bool `json:"metadata_only"`
	Covered      *bool
	Diffs        map[string]casePlace
}

// A casePlace is what is decided about a place.
type casePlace struct {
	Type      string
	Covered   bool
	By        []string
	Fragments []string
	Approved  *bool
	Held      *bool
}

// Worlds are decided about as the recorded cases say.
func TestWorldCases(t *testing.T) {
	for _, area := range []string{"owners_cover", "owners_resource", "owners_split", "owners_context", "owners_expansion",
		"owners_inherit",
		"owners_implicit", "owners_move", "owners_roles", "owners_priority", "owners_hole", "owners_decide",
		"owners_admission"} {
		shared.Each(t, area, holdWorld)
	}
}

func holdWorld(t *testing.T, c worldCase) {
	t.Helper()
	want := c.Expected
	files, faults := c.Input.cover(t)
	if want.Error != "" || len(faults) > 0 {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.Kind == kinds[want.Error] }) {
			t.Errorf("faults %v, want one of the kind %q", faults, want.Error)
		}
		return
	}
	d := decision.Decide(files, c.Input.words())
	for _, check := range []struct {
		what string
		want *bool
		got  bool
	}{
		{"covered", want.AllCovered, d.IsCovered}, {"approved", want.Approved, d.IsApproved},
		{"held", want.Hold, d.IsHeld}, {"admitted", want.Admitted, d.IsAdmitted},
	} {
		if check.want != nil && *check.want != check.got {
			t.Errorf("%s: %v, want %v", check.what, check.got, *check.want)
		}
	}
	if priority := strings.Trim(string(want.Priority), `"`); priority != "" && priority != cmp.Or(d.Priority, "null") {
		t.Errorf("priority %q, want %s", d.Priority, priority)
	}
	if want.ChangeOwnerLabels != nil && !slices.Equal(d.Labels, want.ChangeOwnerLabels) {
		t.Errorf("labels %q, want %q", d.Labels, want.ChangeOwnerLabels)
	}
	for path, text := range want.Needs {
		if got := needs(files, path); got != text {
			t.Errorf("%s needs %q, want %q", path, got, text)
		}
	}
	if want.Files != nil {
		holdFiles(t, files, d, want.Files)
	}
}

// holdFiles compares what is decided about each file.
func holdFiles(t *testing.T, files []*coverage.File, d *decision.Decision, want map[string]caseFile) {
	t.Helper()
	if len(files) != len(want) {
		t.Errorf("%d files differ, want %d", len(files), len(want))
	}
	for _, f := range files {
		w, isThere := want[f.Path]
		if !isThere {
			t.Errorf("%s is not expected to differ", f.Path)
			continue
		}
		if w.MetadataOnly != f.IsText() || w.Covered != nil && *w.Covered != f.IsCovered() {
			t.Errorf("%s: only text %v, covered %v, want %+v", f.Path, f.IsText(), f.IsCovered(), w)
		}
		if w.Diffs == nil {
			continue
		}
		got := map[string]casePlace{}
		for _, p := range d.Places {
			if p.File == f {
				got[nameOf(f, p.CoveredPlace)] = shown(p, w.Diffs[nameOf(f, p.CoveredPlace)])
			}
		}
		if !reflect.DeepEqual(got, w.Diffs) {
			t.Errorf("%s: got %s, want %s", f.Path, written(got), written(w.Diffs))
		}
	}
}

// nameOf returns the name of a place as the cases write it.
func nameOf(f *coverage.File, p *coverage.CoveredPlace) string {
	name := p.Place().String()
	if p.Kind == difference.Text {
		return "_metadata_"
	}
	for _, other := range f.Places() {
		if other.Place().String() == name && other.Kind != p.Kind {
			if p.Kind == difference.Removed {
				return name + " (base)"
			}
			return name + " (head)"
		}
	}
	return name
}

// shown returns a place as the cases write it; words are shown if the case has them.
func shown(p *decision.DecidedPlace, want casePlace) casePlace {
	out := casePlace{Type: p.Kind.String(), Covered: p.IsCovered()}
	if p.Kind == difference.Text {
		out.Type = "changed"
	}
	for _, c := range p.Covers {
		by := c.Context.Name() + ": " + c.Context.Origin.Name
		if c.Context.IsDisabled() {
			by += " (disabled)"
		}
		out.By = append(out.By, by)
	}
	slices.Sort(out.By)
	out.By = slices.Compact(out.By)
	for _, part := range p.Parts {
		out.Fragments = append(out.Fragments, part.Place().String())
	}
	slices.Sort(out.Fragments)
	if want.Approved != nil {
		out.Approved, out.Held = &p.IsApproved, &p.IsHeld
	}
	return out
}

func written(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// needs says who must say yes to a file that comes or goes.
func needs(files []*coverage.File, path string) string {
	for _, f := range files {
		if f.Path != path || len(f.Roots) != 1 {
			continue
		}
		p := f.Roots[0]
		var roles []string
		for _, c := range p.Covers {
			roles = append(roles, c.Context.Name())
		}
		who := strings.Join(roles, ", ")
		if len(roles) == 0 {
			who = map[difference.Kind]string{difference.Added: "nobody may add it",
				difference.Removed: "nobody may remove it"}[p.Kind]
		}
		return p.Kind.String() + " at " + p.Place().String() + ": " + who
	}
	return ""
}

// A commandsCase is what people wrote, and the words in it.
type commandsCase struct {
	Input    struct{ Comments []comment }
	Expected struct {
		Decisions [][2]string
		Why       string
	}
}

// Words are found as the recorded cases say.
func TestCommandCases(t *testing.T) {
	shared.Each(t, "owners_commands", func(t *testing.T, c commandsCase) {
		var got [][2]string
		for _, w := range decision.Words(comments(c.Input.Comments)) {
			if w.Command != decision.OKToTest {
				got = append(got, [2]string{w.By, string(w.Command)})
			}
		}
		if !slices.Equal(got, c.Expected.Decisions) {
			t.Errorf("got %q, want %q", got, c.Expected.Decisions)
		}
	})
}

// A labelsCase is labels with conditions.
type labelsCase struct {
	Input struct {
		Current    []string
		Conditions map[string]bool
	}
	Expected struct {
		Labels []string
		Why    string
	}
}

// Labels follow their conditions as the recorded cases say.
func TestLabelCases(t *testing.T) {
	shared.Each(t, "owners_labels", func(t *testing.T, c labelsCase) {
		if got := decision.WithLabels(c.Input.Current, c.Input.Conditions); !slices.Equal(got, c.Expected.Labels) {
			t.Errorf("got %q, want %q", got, c.Expected.Labels)
		}
	})
}

// A comment is one of a case; its time is in minutes.
type comment struct {
	By, Body string
	At       int
}

func comments(in []comment) []decision.Comment {
	var out []decision.Comment
	for _, c := range in {
		out = append(out, decision.Comment{By: c.By, Body: c.Body, At: time.Unix(int64(c.At)*60, 0)})
	}
	return out
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
