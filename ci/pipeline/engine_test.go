package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// The template of ci/templates and its child pipelines run in gitlab-ci-local, a CI engine
// for one machine. This test shows that the engine accepts both, that jobs run in their
// order, that parts get their numbers, and that artifacts get from the plan to the parts
// and to the last job, which also runs after failed parts. It cannot show everything: the
// engine does not fetch artifacts of a parent pipeline, so the plan is also in the
// checkout. The engine has no retries and no time limits. It reports the parent as passed
// even if the child failed, so the test does not look at the parent's status.
func TestEngine(t *testing.T) {
	engine := os.Getenv("PRCHECK_GITLAB_CI_LOCAL")
	if engine == "" {
		t.Skip("PRCHECK_GITLAB_CI_LOCAL names no gitlab-ci-local to run pipelines with")
	}
	bin := script.Programs(t)
	green := []string{
		"PASS prcheck-inputs", "PASS prcheck-part-4", "PASS prcheck-parts-1-to-3: [1/3]", "PASS prcheck-parts-1-to-3: [2/3]",
		"PASS prcheck-parts-1-to-3: [3/3]", "PASS prcheck-report", "report PASSED: 4 tasks passed",
	}
	tests := map[string]struct {
		ci, argv, head string
		want           []string // how the jobs of the child end, and the summary of its report
	}{
		"green": {includeWith("head.json", 4), "echo", "head.json", green},
		"red": {includeWith("head.json", 2), "false", "head.json", []string{
			"FAIL prcheck-part-1", "FAIL prcheck-part-2", "FAIL prcheck-report", "PASS prcheck-inputs",
			"report FAILED: 4 of 4 tasks did not pass (4 failed)",
		}},
		"nothing": {includeWith("base.json", 4), "echo", "base.json", []string{
			"PASS prcheck-inputs", "PASS prcheck-nothing", "PASS prcheck-report", "report PASSED: nothing to run",
		}},
		"component": {componentText, "echo", "head.json", green},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := project(t, bin, tt.argv, tt.head, tt.ci)
			argv := []string{"--shell-isolation", "--force-shell-executor"}
			for _, v := range fork {
				argv = append(argv, "--variable", v)
			}
			cmd := exec.CommandContext(t.Context(), engine, append(argv, "--ignore-predefined-vars", "CI_PIPELINE_SOURCE")...) //nolint:gosec // the tester's own program
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1",
				"FORCE_COLOR=0")
			log, _ := cmd.CombinedOutput() // the exit code depends on the last job
			if got := strings.Join(told(string(log)), "\n"); got != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s\nfrom\n%s", got, strings.Join(tt.want, "\n"), log)
			}
			if text := "The report is in the artifacts of prcheck-report in the child pipeline."; !strings.Contains(string(log),
				text) {
				t.Errorf("a fork did not give up the token: %q is not in\n%s", text, log)
			}
		})
	}
}

// fork are the variables of a merge request that comes from a fork, with a token that its
// jobs must not use.
var fork = []string{
	"CI_PIPELINE_SOURCE=merge_request_event", "CI_MERGE_REQUEST_PROJECT_ID=7", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID=8",
	"CI_MERGE_REQUEST_IID=1",
	"PRCHECK_GITLAB_TOKEN=glpat-not-for-forks", "PRCHECK_STATE_KEY=/nowhere/key",
}

// settingsWithBlank is the name of the settings. A shell would split it.
const settingsWithBlank = "the settings.yaml"

// includeWith returns a CI file with the plain include.
func includeWith(head string, parts int) string {
	return fmt.Sprintf(
		"include: [{local: ci/templates/prcheck.gitlab-ci.yml}]\nvariables:\n  PRCHECK_PLAN_FLAGS: '[\"--base\", \"base.json\", \"--head\", %q, \"--config\", %q]'\n"+
			"  PRCHECK_RUN_FLAGS: '[\"--config\", %q]'\n  PRCHECK_PARTS: %d\n", head, settingsWithBlank, settingsWithBlank,
		parts)
}

// componentText is a CI file with the component. GitLab finds it by this name, too, when the
// component is in the same project.
var componentText = fmt.Sprintf(
	"include:\n  - component: $CI_SERVER_FQDN/$CI_PROJECT_PATH/prcheck@$CI_COMMIT_SHA\n    inputs: {image: registry.example.com/prcheck:1, parts: 4, state: state, "+
		"plan_flags: [--base, base.json, --head, head.json, --config, %q], run_flags: [--config, %q, --jobs, '2'], pipeline_flags: [--tag, docker]}\n",
	settingsWithBlank, settingsWithBlank)

// project makes a checkout of examples/shop that includes the template.
func project(t *testing.T, bin, argv, head, ci string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, from := range map[string]string{
		"base.json": "../../testdata/shop/base.json", "head.json": "../../testdata/shop/head.json",
		"ci/templates/prcheck.gitlab-ci.yml": includeFile, "templates/prcheck.yml": componentFile,
	} {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(raw))
	}
	write(settingsWithBlank, "version: 1\nexec: {argv: [\""+argv+"\", \"{name}\"], pass_env: [PATH]}\n")
	write(".gitlab-ci.yml", ci)
	for _, line := range []string{
		"git init -q -b main .", "git add -A", "git -c user.name=a -c user.email=a@example.org commit -q -m shop",
		"git remote add origin https://gitlab.example.com/shop/shop.git",
		"mkdir prcheck", bin + "/planner plan --config the?settings.yaml --base base.json --head " + head +
			" --out prcheck/plan.json",
		"git add prcheck/plan.json", // the engine hands on no file that git does not list
	} {
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "the?settings.yaml", settingsWithBlank)
		}
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...) //nolint:gosec // the words above
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	return dir
}

var (
	ended  = regexp.MustCompile(`^ (PASS|FAIL)  (?:\[prcheck-checks\] -> )?(prcheck-(?:inputs|part|nothing|report).*)$`)
	judged = regexp.MustCompile(`prcheck-report +> ((?:PASSED|FAILED):.*)$`)
)

// told returns how each job of the child ended, and the summary of its report.
func told(log string) []string {
	var jobs []string
	verdict := ""
	child, _, _ := strings.Cut(log, "\nprcheck-report ") // the log of the parent's job prcheck-report begins here
	for line := range strings.Lines(child) {
		line = strings.TrimRight(line, " \r\n")
		if m := judged.FindStringSubmatch(line); m != nil {
			verdict = "report " + m[1]
		}
		if m := ended.FindStringSubmatch(line); m != nil {
			jobs = append(jobs, m[1]+" "+m[2])
		}
	}
	slices.Sort(jobs)
	return append(jobs, verdict)
}
