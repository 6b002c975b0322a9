package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/ci/pipeline"
)

// The files that projects include, and their source.
const (
	templateSource = "../templates/prcheck.yml.tmpl"
	includeFile    = "../templates/prcheck.gitlab-ci.yml" // with variables
	componentFile  = "../../templates/prcheck.yml"        // with inputs, where GitLab looks for components
)

// A form is what differs between the files.
type form struct {
	Component                           bool
	StagePlan, StageChecks, StageReport string
	NoSecrets                           string
}

var forms = map[string]form{
	includeFile: {false, "plan", "checks", "report", pipeline.KeepFromForks},
	componentFile: {true, "$[[ inputs.stage_plan ]]", "$[[ inputs.stage_checks ]]", "$[[ inputs.stage_report ]]",
		pipeline.KeepFromForks},
}

// Both files are what their source makes.
func TestTemplates(t *testing.T) {
	source, err := template.ParseFiles(templateSource)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range forms {
		var out bytes.Buffer
		if err := source.Execute(&out, f); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil { //nolint:gosec // everybody may read it
				t.Fatal(err)
			}
		}
		if got := readText(t, name); got != out.String() {
			t.Errorf("%s is not what %s makes; go test ./ci/pipeline -run Templates -update", name, templateSource)
		}
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Both files match GitLab's schema, agree with the child pipelines, and are documented.
func TestTemplate(t *testing.T) {
	docs := readText(t, "../../docs/gitlab.md")
	for name, text := range map[string]string{
		"include":   readText(t, includeFile),
		"component": interpolated(t, map[string]any{"image": "registry.example.com/prcheck:1"}),
	} {
		for _, part := range []string{
			"\n" + pipeline.PlanJob + ":\n", "planner plan --out " + pipeline.Folder + "/plan.json ",
			"    paths: [" + pipeline.Folder + "/]\n", "planner pipeline --plan " + pipeline.Folder + "/plan.json ",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: it lacks %q", name, part)
			}
		}
		validate(t, ciSchema(t), name, text)
		for _, variable := range regexp.MustCompile(`PRCHECK_[A-Z_]+`).FindAllString(text, -1) {
			if !strings.Contains(docs, "`"+variable+"`") {
				t.Errorf("the variable %s is not in docs/gitlab.md", variable)
			}
		}
	}
	child := written(t, tasks(1, 1), pipeline.Options{Parent: "1"})
	for _, part := range []string{`--state "${PRCHECK_STATE:-}"`, "--flags-from PRCHECK_RUN_FLAGS"} {
		if !strings.Contains(child, part) {
			t.Errorf("the child pipeline lacks %s", part)
		}
	}
}

// An input is an entry of spec:inputs.
type input struct {
	Description string
	Type        string
	Default     any
}

// component returns the inputs and the text of the component.
func component(t *testing.T) (map[string]input, string) {
	t.Helper()
	head, body, found := strings.Cut(readText(t, componentFile), "\n---\n")
	var header struct {
		Spec struct{ Inputs map[string]input }
	}
	if err := yaml.Unmarshal([]byte(head), &header); err != nil || !found {
		t.Fatal(err, found)
	}
	return header.Spec.Inputs, "\n" + body
}

// interpolated returns the component with inputs, as GitLab makes it: it replaces each block
// in the text, before it reads the text as YAML. A string is inserted as it is, and other
// values as JSON.
func interpolated(t *testing.T, given map[string]any) string {
	t.Helper()
	inputs, text := component(t)
	for name := range given {
		if _, ok := inputs[name]; !ok {
			t.Fatalf("there is no input %s", name)
		}
	}
	return regexp.MustCompile(`\$\[\[ inputs\.(\w+) \]\]`).ReplaceAllStringFunc(text, func(block string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(block, "$[[ inputs."), " ]]")
		value, ok := given[name]
		if !ok {
			value = inputs[name].Default
		}
		if s, ok := value.(string); ok {
			return s
		}
		raw, err := json.Marshal(value)
		if err != nil || value == nil {
			t.Fatalf("the input %s is missing (%v)", name, err)
		}
		return string(raw)
	})
}

// Each input gets where it belongs, whatever text it has.
func TestComponentInputs(t *testing.T) {
	flags := []string{"--config", "a b: 'c' \"d\" #e.yaml", "<&>"}
	given := map[string]any{
		"image": "registry.example.com/prcheck:1", "stage_plan": "first", "stage_checks": "second", "stage_report": "third",
		"state": "s3://state/a", "parts": 7,
		"plan_flags": flags, "pipeline_flags": flags[:2], "run_flags": flags[2:],
		"rules": []any{map[string]any{"if": `$CI_COMMIT_BRANCH == "next"`}},
	}
	inputs, _ := component(t)
	if got, want := slices.Sorted(maps.Keys(given)), slices.Sorted(maps.Keys(inputs)); !slices.Equal(got, want) {
		t.Fatalf("the inputs are %s, and %s are tested", want, got)
	}
	for name, i := range inputs {
		if i.Description == "" || !strings.Contains(readText(t, "../../docs/gitlab.md"), "| `"+name+"` |") {
			t.Errorf("the input %s has no description, or is not in docs/gitlab.md", name)
		}
	}
	text := interpolated(t, given)
	validate(t, ciSchema(t), "component", text)
	var made map[string]struct {
		Stage, Image string
		When         string
		Rules        []map[string]string
		Variables    map[string]any
	}
	if err := yaml.Unmarshal([]byte(text), &made); err != nil {
		t.Fatal(err)
	}
	for job, stage := range map[string]string{"prcheck-plan": "first", "prcheck-pipeline": "first",
		"prcheck-checks": "second", "prcheck-report": "third"} {
		if got := made[job].Stage; got != stage {
			t.Errorf("%s: got the stage %s, want %s", job, got, stage)
		}
	}
	if got := made[".prcheck-when"].Rules; fmt.Sprint(got) != `[map[if:$CI_COMMIT_BRANCH == "next"]]` ||
		made[".prcheck"].Image != "$PRCHECK_IMAGE" {
		t.Errorf("got the rules %v and the image %s", got, made[".prcheck"].Image)
	}
	if got := made["prcheck-report"]; got.When != "always" || got.Rules != nil {
		t.Errorf("the report must run always, by the same rules: got when %q and the rules %v", got.When, got.Rules)
	}
	variables := made[".prcheck-when"].Variables
	for name, want := range map[string]string{"PRCHECK_IMAGE": "registry.example.com/prcheck:1",
		"PRCHECK_STATE": "s3://state/a", "PRCHECK_PARTS": "7"} {
		if variables[name] != want {
			t.Errorf("%s: got %v, want %s", name, variables[name], want)
		}
	}
	for name, want := range map[string][]string{"PRCHECK_PLAN_FLAGS": flags, "PRCHECK_PIPELINE_FLAGS": flags[:2],
		"PRCHECK_RUN_FLAGS": flags[2:]} {
		v, _ := variables[name].(map[string]any)
		var got []string
		if err := json.Unmarshal([]byte(fmt.Sprint(v["value"])), &got); err != nil || !slices.Equal(got, want) ||
			v["expand"] != false {
			t.Errorf("%s: got %v, want %q", name, v, want)
		}
	}
}
