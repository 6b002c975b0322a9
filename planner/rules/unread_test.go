package rules_test

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/planner/rules"
)

// A namedNative is a native integration of which nothing but the name is asked.
type namedNative struct{ integration.Native }

func (namedNative) Name() string { return "dns" }

// As long as no run was recorded, nobody knows which files a command reads, whether it names a file
// of the repository or not. Strict settings run it then.
func TestUnread(t *testing.T) {
	const exec = "version: 1\nexec: {argv: [make, check]}\n"
	recorded := func(string) rules.Reads { return rules.Reads{Paths: []string{"Makefile"}} }
	nobody := func(string) rules.Reads { return rules.Reads{} }
	for _, tt := range []struct {
		name, settings string
		reads          func(string) rules.Reads
		natives        []integration.DryRunner
		want, runs     bool
	}{
		{"no run was recorded", exec, nobody, nil, true, false},
		{"it is not known whether one was", exec, nil, nil, true, false},
		{"a run was recorded", exec, recorded, nil, false, false},
		{"it may use no file", exec + "programs: none\n", nobody, nil, false, false},
		{"it is started by no command", "version: 1\n", nobody, nil, false, false},
		{"a native", exec, nobody, []integration.DryRunner{namedNative{}}, false, false},
		{"strict", exec + "reads: strict\n", nobody, nil, true, true},
		{"strict, and a run was recorded", exec + "reads: strict\n", recorded, nil, false, false},
		{"strict, and a native", exec + "reads: strict\n", nobody, []integration.DryRunner{namedNative{}}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, head := map[string]string{"data/y": "1"}, map[string]string{"data/y": "2"}
			edits, err := rules.FindEdits(rules.Input{
				Settings: rules.SideSettings{Settings: parse(t, tt.settings)}, IsData: isData, Reads: tt.reads, Natives: tt.natives,
				Compare: func() (*rules.Comparison, error) { return compared(files(base), files(head)), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := edits.Unread("dns"); got != tt.want {
				t.Errorf("unread: got %t, want %t", got, tt.want)
			}
			if got, want := edits.Of("dns"),
				[]string{"files that nobody has recorded yet (reads: strict)"}; slices.Equal(got, want) != tt.runs {
				t.Errorf("got the edits %q", got)
			}
		})
	}
}
