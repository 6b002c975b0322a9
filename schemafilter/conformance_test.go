package schemafilter_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A selectCase is one case of the area select_integrations.
type selectCase struct {
	Area, Name string
	Input      struct {
		Modified     []string          `json:"modified_files"`
		FileSchemas  map[string]string `json:"file_schemas"`
		Integrations map[string]struct {
			Schemas []string
			Check   object `json:"pr_check"`
		}
		// The rest is of the cases that two bundles cannot express.
		IsTestData bool `json:"is_test_data"`
		Cmd        string
		Overrides  any
	}
	Expected json.RawMessage
}

// notExpressible are the cases that two bundles cannot express.
var notExpressible = map[string]string{
	"a file outside data|resources|docs|test_data -> select all, early exit OFF": "hack/foo.sh is in no bundle, so the planner never sees it; what runs for such files is the pipeline's affair",

	"root-level markdown with data: *.md at root is non-bundled -> select all": "README.md is in no bundle; that it makes everything run is a defect of the reference",

	"change-owners mode data only": "it is about an environment variable of one integration, which exec.env gives it, and not about selection",

	"terraform-resources imageRef overrides split into one run per imageRef plus one with --exclude-accounts": "the planner gives each of these accounts a task with its image, and no bundle lists command lines; planner TestImagesOfShards holds the images",
}

// The integrations that the reference selects run here too. Others run only because they
// may ask for a changed resource, of which the reference takes no notice.
func TestSelectIntegrations(t *testing.T) {
	shared.Each(t, "select_integrations", func(t *testing.T, c selectCase) {
		outside := slices.ContainsFunc(c.Input.Modified, func(f string) bool {
			return !strings.HasPrefix(f, "data/") && !strings.HasPrefix(f, "resources/")
		})
		if why, listed := notExpressible[c.Name]; listed {
			t.Skip(why)
		}
		if outside || len(c.Input.Integrations) == 0 {
			t.Fatal("this case cannot be expressed by two bundles; list it in notExpressible with the reason")
		}
		base, head := c.sides()
		var got []string
		for _, o := range filter(t, base.bundle(t), head.bundle(t), readSettings(t, "")) {
			if o.Conclusion.Action == plan.Run && (o.Conclusion.Reason.Code != plan.CodeResourceChanged ||
				slices.Contains(c.selected(t), o.Name)) {
				got = append(got, o.Name)
			}
		}
		if want := c.selected(t); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// sides makes bundles with the integrations of the case in which the modified
// files differ.
func (c selectCase) sides() (base, head side) {
	base = side{data: map[string]object{}, resources: map[string]object{}, schemas: map[string]object{}}
	for name, i := range c.Input.Integrations {
		base.data["/integrations/"+name+".yml"] = definition(name, i.Check, i.Schemas...)
	}
	head = base.clone()
	for _, path := range c.Input.Modified {
		schema := c.Input.FileSchemas[path]
		if in, ok := strings.CutPrefix(path, "resources"); ok {
			base.resources[in], head.resources[in] = resource("1"), resource("2")
			if schema != "" {
				base.resources[in], head.resources[in] = resource("1", schema), resource("2", schema)
			}
			continue
		}
		in := strings.TrimPrefix(path, "data")
		o := object{"$schema": schema, "name": "the one of " + in, "description": "old"}
		if schema == string(settings.DefinitionSchema) {
			o["schemas"] = []string{}
		}
		base.data[in], head.data[in] = o, with(o, "description", "new")
	}
	return base, head
}

// selected returns the names of the integrations whose commands the reference
// prints, sorted.
func (c selectCase) selected(t *testing.T) []string {
	t.Helper()
	var lines []string
	if err := json.Unmarshal(c.Expected, &lines); err != nil {
		t.Fatal(err)
	}
	printed := regexp.MustCompile(`(?:^| )run_int (.*) &$`)
	var out []string
	for _, line := range lines {
		m := printed.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no command in %q", line)
		}
		for name, i := range c.Input.Integrations {
			if i.Check["cmd"] == m[1] {
				out = append(out, name)
			}
		}
	}
	if len(out) != len(lines) {
		t.Fatalf("found %v for the commands %v", out, lines)
	}
	slices.Sort(out)
	return out
}
