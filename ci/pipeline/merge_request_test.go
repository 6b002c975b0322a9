package pipeline_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// users returns a repository with three integrations that read users, and one
// that does not.
func users() map[string]string {
	const meta = "---\n\"$schema\": /metaschema-1.json\nversion: '1.0'\ntype: object\nproperties:\n  \"$schema\": {type: string}\n  name: {type: string}\n"
	files := map[string]string{
		"prcheck.yaml":       "version: 1\nexec: {argv: [check, \"{name}\", \"{base_sha}\", \"{head_sha}\"], pass_env: [PATH]}\n",
		"data/users/ana.yml": "$schema: /access/user-1.yml\nname: ana\n", "resources/.keep": "",
		"schemas/access/user-1.yml": meta + "additionalProperties: false\n", "schemas/app-sre/integration-1.yml": meta,
		"schemas/metaschema-1.json": `{"$schema": "http://json-schema.org/draft-06/schema#", "type": "object"}`,
		"graphql-schemas/schema.yml": `---
$schema: /app-interface/graphql-schemas-1.yml
confs:
- name: User_v1
  datafile: /access/user-1.yml
  fields:
  - {name: schema, type: string, isRequired: true}
  - {name: path, type: string, isRequired: true}
  - {name: name, type: string, isRequired: true}
- name: Query
  fields:
  - {name: users_v1, type: User_v1, isList: true, datafileSchema: /access/user-1.yml}
`,
	}
	for name, schema := range map[string]string{"github": "/access/user-1.yml", "quay": "/access/user-1.yml",
		"slack": "/access/user-1.yml", "dns": "/dns/zone-1.yml"} {
		files["data/integrations/"+name+
			".yml"] = "$schema: /app-sre/integration-1.yml\nname: " + name + "\nschemas: [" + schema + "]\npr_check: {cmd: " +
			name + "}\n"
	}
	return files
}

// One merge request with several pushes. All scripts of the template and of the child
// pipelines run, with the real programs and a fake API of GitLab.
func TestMergeRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole story with binaries of their own is left out of a short run")
	}
	s := newStage(t)
	s.git("init", "-q", "-b", "main", ".")
	files, key := users(), filepath.Join(s.TempDir(), "state.key")
	files["prcheck.yaml"] += "integrations: {github: {trace: none}, quay: {trace: none}, slack: {trace: none}}\n" +
		s.signedWith(key)
	s.commit(files)
	s.git("switch", "-q", "-c", "feature")

	s.failing("quay")
	s.commit(map[string]string{"data/users/bob.yml": "$schema: /access/user-1.yml\nname: bob\n"})
	first := s.pipeline(100, nil)
	s.everyTaskOnce(first, 3)
	if first.child.code != 1 || first.report.code != 1 {
		t.Fatalf("the reports end with %d and %d, want 1: %s%s", first.child.code, first.report.code, first.child.log,
			first.report.log)
	}
	s.has(s.note(), "### ❌ prcheck: 1 of 3 tasks did not pass", "**`quay`** failed: exit code 1",
		"quay: user bob has no role", "changed: `/users/bob.yml`", "1 skipped",
		"[pipeline](https://gitlab.example.com/shop/data/-/pipelines/100)", "/artifacts/file/prcheck/report.html)",
		"[log](https://gitlab.example.com/shop/data/-/jobs/10102/artifacts/file/prcheck/logs/quay-")
	s.has(s.status(), "prcheck of 100: failed, 1 of 3 tasks did not pass")
	for name, want := range map[string]string{
		"prcheck/report.html": "quay", "prcheck/junit.xml": "<failure", "prcheck/codequality.json": `"data/users/bob.yml"`,
		"prcheck/metrics.txt": "prcheck_", "prcheck/note.md": "quay",
	} {
		s.has(first.child.files[name], want)
	}

	s.failing("slack")
	s.commit(map[string]string{"data/users/eve.yml": "$schema: /access/user-1.yml\nname: eve\n"})
	s.pipeline(200, nil)
	second := s.note()
	s.has(second, "#### New failures (1)\n\n**`slack`** failed", "#### Fixed (1)\n\n`quay`")

	late := s.run(s.template()["prcheck-report"], first.env, first.plan)
	if late.code != 1 || s.note() != second {
		t.Errorf("an older pipeline ended with %d and changed the note: %s", late.code, late.log)
	}
	s.has(late.log, "superseded")

	s.commit(map[string]string{"data/users/eve.yml": "$schema: /access/user-1.yml\nname: [eve\n"})
	broken := s.pipeline(300, nil)
	if broken.plan.code == 0 || broken.report.code != 1 {
		t.Errorf("plan and report end with %d and %d: %s%s", broken.plan.code, broken.report.code, broken.plan.log,
			broken.report.log)
	}
	s.has(broken.plan.log, "eve.yml")
	s.has(s.note(), "### ❌ prcheck: could not be planned", "eve.yml")
	s.has(s.status(), "prcheck of 300: failed, could not be planned")

	s.failing()
	s.commit(map[string]string{"data/users/eve.yml": "$schema: /access/user-1.yml\nname: eve\n"})
	if fixed := s.pipeline(400, nil); fixed.child.code+fixed.report.code != 0 {
		t.Errorf("not green: %s%s", fixed.child.log, fixed.report.log)
	}
	s.has(s.note(), "### ✅ prcheck: 3 tasks passed", "#### Fixed (1)\n\n`slack`")
	s.has(s.status(), "prcheck of 400: success, 3 tasks passed")

	// A pipeline of a fork has no token: all tasks run, and nothing is posted.
	before := len(s.server.Requests())
	fork := s.pipeline(500, map[string]string{"PRCHECK_GITLAB_TOKEN": ""})
	s.has(fork.child.log, "PRCHECK_GITLAB_TOKEN is not set", "### ✅ prcheck: 3 tasks passed")
	s.has(fork.report.log, "The report is in the artifacts of prcheck-report in the child pipeline.")
	if fork.child.code+fork.report.code != 0 || len(s.server.Requests()) != before {
		t.Errorf("a fork ended with %d and %d, and asked for %q", fork.child.code, fork.report.code,
			s.server.Requests()[before:])
	}

	// A member who starts the pipeline of a fork lends it the token and the key. The jobs
	// give them up.
	lent := map[string]string{"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "8", "PRCHECK_STATE": s.TempDir(),
		"PRCHECK_STATE_KEY": key}
	given := s.pipeline(520, lent)
	s.has(given.child.log, "PRCHECK_GITLAB_TOKEN is not set", "### ✅ prcheck: 3 tasks passed")
	s.has(given.child.files["prcheck/report.html"], "github")
	if given.child.code+given.report.code != 0 || len(s.server.Requests()) != before {
		t.Errorf("a fork with a token ended with %d and %d, and asked for %q", given.child.code, given.report.code,
			s.server.Requests()[before:])
	}
	lent["CI_MERGE_REQUEST_SOURCE_PROJECT_ID"] = "7"
	s.everyTaskOnce(s.pipeline(540, lent), 3) // since the fork signed nothing, nothing counts as passed

	// If there is no child pipeline, no task has a result.
	lost := maps.Clone(fork.env)
	lost["CI_PIPELINE_ID"], lost["PRCHECK_GITLAB_TOKEN"] = "550", token
	s.server.Pipelines[550] = lost["CI_COMMIT_SHA"]
	if got := s.run(s.template()["prcheck-report"], lost, fork.plan); got.code != 1 {
		t.Errorf("without a child pipeline the report ended with %d: %s", got.code, got.log)
	}
	s.has(s.note(), "### ❌ prcheck: 3 of 3 tasks did not pass", "no result: the part that should have run it is missing")

	// With a state, a second pipeline of the same commit runs the tasks that failed in
	// the first one again. A task that failed is never taken for passed.
	state := s.TempDir()
	remember := map[string]string{"PRCHECK_STATE": state, "PRCHECK_RUN_FLAGS": `["--jobs", "1"]`, "PRCHECK_STATE_KEY": key}
	s.failing("quay")
	s.everyTaskOnce(s.pipeline(560, remember), 3)
	s.failing()
	again := s.pipeline(570, remember)
	s.everyTaskOnce(again, 1)
	s.has(again.plan.log, "Skipped at result (2)")
	s.has(s.note(), "### ✅ prcheck: 1 task passed", "Not run again: 2 tasks that passed with the same inputs before.",
		"#### Fixed (1)\n\n`quay`")

	// The target branch has new commits, and the pipeline is one of merged results.
	s.git("switch", "-q", "main")
	target := s.commit(map[string]string{"data/users/zoe.yml": "$schema: /access/user-1.yml\nname: zoe\n"})
	s.git("switch", "-q", "feature")
	s.git("merge", "-q", "--no-edit", "main")
	merged := map[string]string{
		"CI_PIPELINE_ID": "600", "CI_COMMIT_SHA": s.git("rev-parse", "HEAD"), "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": target,
		"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train",
	}
	s.has(s.run(s.template()["prcheck-plan"], merged).log, "(CI_MERGE_REQUEST_TARGET_BRANCH_SHA)",
		"Changed: 2 datafiles (2 added)")
}

// signedWith makes a key pair and returns the settings that have the public key.
func (s *stage) signedWith(key string) string {
	s.Helper()
	out, code := s.command(s.TempDir(), s.env, s.bin+"/planner", "upkeep", "keygen", key)
	if code != 0 {
		s.Fatal(out)
	}
	return out
}

// template returns the jobs of the template.
func (s *stage) template() map[string]step {
	s.Helper()
	return s.jobsOf(s.read("../templates/prcheck.gitlab-ci.yml"))
}

func (s *stage) read(name string) string {
	s.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		s.Fatal(err)
	}
	return string(raw)
}

// taskIDs returns the tasks of a results file.
func (s *stage) taskIDs(text string) []string {
	s.Helper()
	r, err := plan.ReadResults(strings.NewReader(text))
	if err != nil {
		s.Fatal(err)
	}
	var ids []string
	for _, one := range r.Results {
		ids = append(ids, one.Task)
	}
	return ids
}

// everyTaskOnce fails the test unless the parts of a flow ran each task exactly once.
func (s *stage) everyTaskOnce(f flow, tasks int) {
	s.Helper()
	seen := map[string]int{}
	for _, part := range f.parts {
		for name, text := range part.files {
			if strings.HasPrefix(name, "prcheck/results/") && strings.HasSuffix(name, ".json") {
				for _, id := range s.taskIDs(text) {
					seen[id]++
				}
			}
		}
	}
	for id, n := range seen {
		if n != 1 {
			s.Errorf("the task %s ran %d times", id, n)
		}
	}
	if len(seen) != tasks {
		s.Errorf("%d tasks ran, want %d", len(seen), tasks)
	}
}
