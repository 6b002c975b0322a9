package pipeline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../cmd/planner", "../../cmd/runner").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tests := map[string]struct {
		argv, head, parts string
		want              []string // how the jobs of the child end, and the summary of its report
	}{
		"green": {"echo", "head.json", "4", []string{
			"PASS prcheck-inputs", "PASS prcheck-part-4", "PASS prcheck-parts-1-to-3: [1/3]", "PASS prcheck-parts-1-to-3: [2/3]",
			"PASS prcheck-parts-1-to-3: [3/3]", "PASS prcheck-report", "report PASSED: 4 tasks passed",
		}},
		"red": {"false", "head.json", "2", []string{
			"FAIL prcheck-part-1", "FAIL prcheck-part-2", "FAIL prcheck-report", "PASS prcheck-inputs",
			"report FAILED: 4 of 4 tasks did not pass (4 failed)",
		}},
		"nothing": {"echo", "base.json", "4", []string{
			"PASS prcheck-inputs", "PASS prcheck-nothing", "PASS prcheck-report", "report PASSED: nothing to run",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := project(t, bin, tt.argv, tt.head, tt.parts)
			cmd := exec.CommandContext(t.Context(), engine, "--shell-isolation",
				"--variable", "CI_PIPELINE_SOURCE=merge_request_event", "--ignore-predefined-vars", "CI_PIPELINE_SOURCE") //nolint:gosec // the tester's own program
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "FORCE_COLOR=0")
			log, _ := cmd.CombinedOutput() // the exit code depends on the last job
			if got := strings.Join(told(string(log)), "\n"); got != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s\nfrom\n%s", got, strings.Join(tt.want, "\n"), log)
			}
		})
	}
}

// project makes a checkout of examples/shop that includes the template.
func project(t *testing.T, bin, argv, head, parts string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, from := range map[string]string{
		"base.json": "../../testdata/shop/base.json", "head.json": "../../testdata/shop/head.json",
		"template.yml": "../templates/prcheck.gitlab-ci.yml",
	} {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(raw))
	}
	write("prcheck.yaml", "version: 1\nexec: {argv: [\""+argv+"\", \"{name}\"], pass_env: [PATH]}\n")
	write(".gitlab-ci.yml", "include: [{local: template.yml}]\nvariables:\n"+
		"  PRCHECK_PLAN_FLAGS: --base base.json --head "+head+"\n  PRCHECK_PIPELINE_FLAGS: --parts "+parts+"\n")
	for _, line := range []string{
		"git init -q -b main .", "git add -A", "git -c user.name=a -c user.email=a@example.org commit -q -m shop",
		"git remote add origin https://gitlab.example.com/shop/shop.git",
		"mkdir prcheck", bin + "/planner plan --base base.json --head " + head + " --out prcheck/plan.json",
		"git add prcheck/plan.json", // the engine hands on no file that git does not list
	} {
		words := strings.Fields(line)
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
