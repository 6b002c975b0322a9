package pipeline_test

import (
	"os"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/ci/pipeline"
)

// The template matches GitLab's schema and agrees with the child pipelines.
func TestTemplate(t *testing.T) {
	raw, err := os.ReadFile("../templates/prcheck.gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, part := range []string{
		"\n" + pipeline.PlanJob + ":\n", "planner plan --out " + pipeline.Folder + "/plan.json ",
		"    paths: [" + pipeline.Folder + "/]\n", "planner pipeline --plan " + pipeline.Folder + "/plan.json ",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q", part)
		}
	}
	child := written(t, tasks(1, 1), pipeline.Options{Parent: "1"})
	docs, err := os.ReadFile("../../docs/gitlab.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PRCHECK_PLAN_FLAGS", "PRCHECK_PIPELINE_FLAGS", "PRCHECK_RUN_FLAGS", "PRCHECK_BRANCHES", "PRCHECK_GITLAB_TOKEN"} {
		if !strings.Contains(text, name) || !strings.Contains(string(docs), name) {
			t.Errorf("the variable %s is not in the template or not in docs/gitlab.md", name)
		}
	}
	if !strings.Contains(child, "$PRCHECK_RUN_FLAGS") {
		t.Error("the child pipeline does not take PRCHECK_RUN_FLAGS")
	}
	validate(t, ciSchema(t), "template", text)
}
