package planner_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/planner"
)

// hide gives the definition of "it" another schema.
func hide(s *side) { s.at("/it.yml")["$schema"] = "/app-sre/integration-2.yml" }

// Where no integration is defined, nothing would be checked: that is a mistake.
func TestNoDefinitions(t *testing.T) {
	for _, c := range []struct {
		name, settings string
		change         func(base, head *side)
		want           string // in the error; "" when there is none
		warning        string
	}{
		{"both define it", exec, rename, "", ""},
		{"neither does", exec, both(func(s *side) { delete(s.data, "/it.yml") }, rename),
			`neither base nor head defines an integration (no datafile has the $schema "/app-sre/integration-1.yml"), so there is nothing to check; `, ""},
		{"neither does, with a similar schema", exec, both(hide, rename),
			"(there are datafiles of /app-sre/integration-2.yml); if integrations", ""},
		{"the settings name the schema", exec + "definition_schema: /app-sre/integration-2.yml\n", both(hide, rename), "",
			""},
		{"only base does", exec, func(_, head *side) { hide(head) },
			`base defines integrations (1) and head none (no datafile has the $schema "/app-sre/integration-1.yml"), so nothing of head can be checked (there are datafiles of /app-sre/integration-2.yml)`, ""},
		{"only head does", exec, func(base, _ *side) { hide(base) }, "", "this is the first change that defines any"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, head := world(), world()
			c.change(base, head)
			p, err := planner.Make(t.Context(), input(t, base, head, c.settings))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(p.Warnings, "\n"); c.warning != "" && !strings.Contains(said, c.warning) ||
				c.warning == "" && strings.Contains(said, "first change") {
				t.Errorf("got the warnings %q, want %q", said, c.warning)
			}
			if len(p.Integrations) != 1 || len(p.Tasks) != 1 {
				t.Errorf("got %+v", p.Integrations)
			}
		})
	}
}
