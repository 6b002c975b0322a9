package comparison_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/owners/comparison"
)

// A comment as change-owners writes it, with the table of the library that it uses.
const report = `Change coverage report

## ✅ Ready for Review
Get ` + "`/lgtm`" + ` approval from the listed approvers below.

| another | table |
|---------|-------|
| a       | b     |

## 📋 Change Summary
| FILE           | CHANGE       | STATUS   | APPROVERS                                                                                                      |
|----------------|--------------|----------|----------------------------------------------------------------------------------------------------------------|
| /apps/shop.yml | description  | approved | <details><summary>RoleV1: shop</summary>@ann bob</details><details><summary>platform</summary>cy bob</details> |
| /a.yml         | $            |          | automatically approved if all sub-properties are approved                                                      |
| /a&#124;b.yml  | l.[0].'$ref' | hold     | [- not self-serviceable -]                                                                                     |

| FILE | CHANGE | STATUS | APPROVERS |
| /other.yml | x | | |
`

func TestRead(t *testing.T) {
	rows, err := comparison.Read(report)
	want := []comparison.Reported{{"/apps/shop.yml", "description", "approved", []string{"ann", "bob", "cy"}},
		{"/a.yml", "$", "", nil}, {"/a|b.yml", "l.[0].'$ref'", "hold", nil}}
	if err != nil || fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; want %v", rows, err, want)
	}
	for _, text := range []string{"", comparison.Heading, "| FILE | CHANGE |\n| a | b |"} {
		if rows, err := comparison.Read(text); err == nil {
			t.Errorf("%q: got %v", text, rows)
		}
	}
	if rows, err := comparison.Read("| FILE | CHANGE | STATUS | APPROVERS |\n| /a |\n"); err != nil || len(rows) != 1 {
		t.Errorf("a row that is cut: got %v, %v", rows, err)
	}
}

func TestOf(t *testing.T) {
	place := func(at string, people ...string) comparison.Place {
		return comparison.Place{File: "/f", Place: at, Change: "changed", People: people}
	}
	row := func(at string, people ...string) comparison.Reported {
		return comparison.Reported{File: "/f", Place: at, People: people}
	}
	type places = []comparison.Place
	type rows = []comparison.Reported
	for name, c := range map[string]struct {
		places places
		rows   rows
		open   bool // nothing was decided
		want   string
	}{
		"alike":       {places: places{place("a", "x")}, rows: rows{row("a", "x")}, want: "1"},
		"others":      {places: places{place("a", "x")}, rows: rows{row("a", "x", "y")}, want: "0 a people"},
		"nobody":      {places: places{place("a")}, rows: rows{row("a", "y")}, want: "0 a people"},
		"only ours":   {places: places{place("a"), place("b")}, rows: rows{row("a")}, want: "1 b only-ours"},
		"only theirs": {places: places{place("a")}, rows: rows{row("a"), row("b")}, want: "1 b only-theirs"},
		"finer": {places: places{place("a.b"), place("a.c")}, rows: rows{row("a")},
			want: "0 a.b finer a.c finer"},
		"finer than all":   {places: places{place("a")}, rows: rows{row("$")}, want: "0 a finer"},
		"a name is no way": {places: places{place("ab")}, rows: rows{row("a")}, want: "0 a only-theirs ab only-ours"},
		"coarser":          {places: places{place("$")}, rows: rows{row("a")}, want: "0 $ coarser"},
		"itself before one above": {places: places{place("a.b")}, rows: rows{row("a"), row("a.b")},
			want: "1 a only-theirs"},
		"another file": {places: places{{File: "/g", Place: "a"}}, rows: rows{row("a")},
			want: "0 a only-ours a only-theirs"},
		"the place in base": {places: places{{File: "/f", Place: "l.[0].v", From: "l.[1].v"}}, rows: rows{row("l.[1].v")},
			want: "1"},
		"a text": {places: places{{File: "/f", Place: "$", Change: "text"}}, rows: rows{row("_metadata_")}, want: "1"},
		"no text": {places: places{place("$")}, rows: rows{row("_metadata_")},
			want: "0 $ only-ours _metadata_ only-theirs"},
		"unknown": {places: places{{File: "/f", Place: "a", IsUnknown: true}}, rows: rows{row("a")},
			want: "0 a unknown"},
		"approved":     {places: places{place("a")}, rows: rows{{"/f", "a", "approved", nil}}, want: "0 a decision"},
		"not decided":  {places: places{place("a")}, rows: rows{{"/f", "a", "approved", nil}}, open: true, want: "1"},
		"both nothing": {want: "0"},
	} {
		got := comparison.Of(c.places, c.rows, !c.open)
		text := fmt.Sprint(got.Alike)
		var told []string
		for _, d := range got.Disagreements {
			told = append(told, d.Place+" "+string(d.Code))
			if d.Rule == "" || d.Ours == nil && d.Theirs == nil {
				t.Errorf("%s: %+v says no rule, or nothing", name, d)
			}
		}
		slices.Sort(told)
		if text = strings.TrimSpace(text + " " + strings.Join(told, " ")); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}

// Each kind of place that change-owners does not have names the rule by which prcheck asks.
func TestRules(t *testing.T) {
	for want, p := range map[string]comparison.Place{
		"OWNERS":        {IsOutside: true, Change: "changed"},
		"a move":        {IsMoved: true, Change: "added"},
		"without conte": {Change: "text"},
		"order of a":    {Change: "reordered"},
		"empty values":  {Change: "removed"},
	} {
		c := comparison.Of([]comparison.Place{p}, nil, false)
		if got := c.Disagreements[0].Rule; !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWriteText(t *testing.T) {
	c := comparison.Of([]comparison.Place{{File: "/f", Place: "a", People: []string{"ann"}, Status: "approved"},
		{File: "/f", Place: "b\x1b[2J"}}, []comparison.Reported{{"/f", "a", "", []string{"ann", "bob"}}}, true)
	var out strings.Builder
	if err := comparison.WriteText(&out, c); err != nil {
		t.Fatal(err)
	}
	const want = `0 places alike, 2 not.

/f a (people)
  prcheck        ann (approved) at a
  change-owners  ann, bob at a
  our rule       a place is approved by whom base names for it: a selector of their change type yields it in base and in head, each on its own side

/f b (only-ours)
  prcheck        nobody may approve it at b
  change-owners  does not ask
  our rule       every difference of content is asked about, also of empty values and of names that begin with underscores
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
