package pipeline

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// The keywords of GitLab's CI files that the pipeline uses, in the order in which they are
// written.
type (
	include struct {
		Local string `yaml:"local"`
	}
	workflow struct {
		Rules []rule `yaml:"rules"`
	}
	rule struct {
		When string `yaml:"when"`
	}
	defaults struct {
		Image         string   `yaml:"image,omitempty"`
		Tags          []string `yaml:"tags,omitempty"`
		Interruptible bool     `yaml:"interruptible"`
		Retry         retry    `yaml:"retry"`
	}
	retry struct {
		Max  int      `yaml:"max"`
		When []string `yaml:"when"`
	}
	job struct {
		Stage         string            `yaml:"stage"`
		Variables     map[string]string `yaml:"variables,omitempty"`
		Needs         []need            `yaml:"needs,omitempty"`
		Dependencies  []string          `yaml:"dependencies,omitempty"`
		When          string            `yaml:"when,omitempty"`
		Parallel      int               `yaml:"parallel,omitempty"`
		Timeout       string            `yaml:"timeout,omitempty"`
		ResourceGroup string            `yaml:"resource_group,omitempty"`
		AllowFailure  bool              `yaml:"allow_failure"`
		Script        []string          `yaml:"script"`
		Artifacts     *artifacts        `yaml:"artifacts,omitempty"`
	}
	need struct {
		Pipeline  string `yaml:"pipeline,omitempty"`
		Job       string `yaml:"job"`
		Artifacts bool   `yaml:"artifacts"`
	}
	artifacts struct {
		When     string   `yaml:"when"`
		ExpireIn string   `yaml:"expire_in"`
		Paths    []string `yaml:"paths"`
	}
)

const (
	inputsJobName = "prcheck-inputs"
	reportJobName = "prcheck-report"
	whenAlways    = "always"
)

// A childPipeline builds the document of a child pipeline.
type childPipeline struct {
	opts   Options
	orders []orderParts
	out    yaml.Node
	err    error
}

// document returns the complete pipeline.
func (c *childPipeline) document() (*yaml.Node, error) {
	c.out.Kind = yaml.MappingNode
	if c.opts.Include != "" {
		c.addEntry("include", []include{{c.opts.Include}})
	}
	// Without this rule GitLab leaves out jobs without rules in pipelines of merge
	// requests.
	c.addEntry("workflow", workflow{[]rule{{whenAlways}}})
	c.addEntry("stages", c.stageNames())
	if c.opts.Parent != "" {
		c.addEntry("variables", map[string]string{"PRCHECK_GENERATION": c.opts.Parent})
	}
	c.addEntry("default", defaults{
		Image: c.opts.Image, Tags: c.opts.Tags, Interruptible: true,
		Retry: retry{Max: 2, When: []string{"runner_system_failure", "scheduler_failure"}},
	})
	if c.opts.Parent != "" {
		c.addEntry(inputsJobName, c.inputsJob())
	}
	if len(c.orders) == 0 {
		c.addEntry("prcheck-nothing", c.nothingJob())
	}
	for i := range c.orders {
		c.addOrderJobs(i)
	}
	c.addEntry(reportJobName, c.reportJob())
	return &c.out, c.err
}

// addEntry adds a section or a job to the document.
func (c *childPipeline) addEntry(name string, content any) {
	var key, value yaml.Node
	key.SetString(name)
	if err := value.Encode(content); err != nil {
		c.err = err
	}
	c.out.Content = append(c.out.Content, &key, &value)
}

// stageNames returns the stages of the pipeline in their order.
func (c *childPipeline) stageNames() []string {
	var all []string
	if c.opts.Parent != "" {
		all = append(all, "inputs")
	}
	for i := range max(len(c.orders), 1) {
		all = append(all, stageName(i))
	}
	return append(all, "report")
}

// stageName returns the stage of the i-th order.
func stageName(i int) string { return fmt.Sprintf("order-%d", i+1) }

// inputsJob returns the first job. It fetches the artifacts of the parent pipeline for all
// other jobs. The others do not need the parent themselves, since a job with such a need
// no longer waits for stages.
func (c *childPipeline) inputsJob() job {
	return job{
		Stage: "inputs", Variables: noCheckoutVariables(),
		Needs:     []need{{Pipeline: c.opts.Parent, Job: PlanJob, Artifacts: true}},
		Script:    []string{removeOldResults, "test -s " + planFile},
		Artifacts: keepArtifacts(Folder + "/"),
	}
}

// nothingJob returns the job that stands in the place of all parts if the plan has no task. It
// remembers the decisions of the plan, and audits what it leaves out if the project asks for
// audits.
func (c *childPipeline) nothingJob() job {
	j := job{Stage: stageName(0), Artifacts: keepArtifacts(Folder+"/results/", Folder+"/logs/")}
	j.Script = append([]string{"echo 'nothing to run: no integration can see the change'"}, c.partScript(1)...)
	if c.opts.Parent != "" {
		j.Needs = []need{{Job: inputsJobName, Artifacts: true}}
	}
	return j
}

// addOrderJobs adds the jobs of the i-th run order, each with up to 200 of its parts.
func (c *childPipeline) addOrderJobs(i int) {
	g := c.orders[i]
	for from := 0; from < g.count; from += maxParallel {
		n := min(maxParallel, g.count-from)
		j := job{
			Stage:     stageName(i),
			Script:    c.partScript(g.first + from),
			Timeout:   formatMinutes(slices.Max(g.timeouts[from : from+n])),
			Artifacts: keepArtifacts(Folder+"/results/", Folder+"/logs/"),
		}
		if n > 1 {
			j.Parallel = n
		}
		if i > 0 {
			j.When = whenAlways
		}
		c.setNeeds(&j, i)
		c.addEntry(partJobName(g.first+from, n), j)
	}
}

// setNeeds makes a job of the i-th order wait for the order before, and take its artifacts
// from the first job. If the order before has too many jobs, the job has no needs and
// waits for the stage before.
func (c *childPipeline) setNeeds(j *job, i int) {
	var wanted []need
	if c.opts.Parent != "" {
		wanted = append(wanted, need{Job: inputsJobName, Artifacts: true})
		j.Dependencies = []string{inputsJobName}
	}
	if i > 0 {
		before := c.orders[i-1]
		if len(wanted)+before.count > maxNeeds {
			return
		}
		for from := 0; from < before.count; from += maxParallel {
			wanted = append(wanted, need{Job: partJobName(before.first+from, min(maxParallel, before.count-from))})
		}
	}
	j.Needs, j.Dependencies = wanted, nil
}

// partJobName returns the name of the job that runs n parts, beginning with part first.
func partJobName(first, n int) string {
	if n == 1 {
		return fmt.Sprintf("prcheck-part-%d", first)
	}
	return fmt.Sprintf("prcheck-parts-%d-to-%d", first, first+n-1)
}

// planFile is the path of the plan in each job. removeOldResults is the command that removes
// what an earlier pipeline left, since runners of GitLab may reuse a folder.
const (
	planFile         = Folder + "/plan.json"
	removeOldResults = "rm -rf " + Folder + "/results " + Folder + "/logs"
)

// KeepFromForks is the command with which a job gives up the token and the key of the state
// if the merge request comes from a fork. When a member of the project starts the pipeline
// of a fork, the job has the secrets of the project, but the CI file of the fork. The source
// has no id when the fork was deleted.
const KeepFromForks = `if [ "${CI_MERGE_REQUEST_SOURCE_PROJECT_ID:-}" != "${CI_MERGE_REQUEST_PROJECT_ID:-}" ]; then unset PRCHECK_GITLAB_TOKEN PRCHECK_STATE_KEY; fi`

// partScript returns the commands that run one part. The number of the part follows from the
// number of the job's instance; a job that is not parallel has no such number. runner reads
// PRCHECK_RUN_FLAGS itself, so no shell splits or evaluates its flags.
func (c *childPipeline) partScript(first int) []string {
	total := 1
	if n := len(c.orders); n > 0 {
		total = c.orders[n-1].first + c.orders[n-1].count - 1
	}
	return []string{
		KeepFromForks,
		fmt.Sprintf("part=$((%d + ${CI_NODE_INDEX:-1}))", first-1), removeOldResults, "mkdir -p " + Folder + "/results",
		fmt.Sprintf(`runner run --plan %s --partition "$part/%d" --logs %s/logs --out "%s/results/results-$part.json" --state "${PRCHECK_STATE:-}" --flags-from PRCHECK_RUN_FLAGS`,
			planFile, total, Folder, Folder),
	}
}

// reportJob returns the last job. It has no needs, since there may be too many jobs: by its
// stage it waits for all jobs and gets the artifacts of all.
func (c *childPipeline) reportJob() job {
	const results = "--plan " + planFile + " --results " + Folder + "/results"
	return job{
		Stage: "report", When: whenAlways, ResourceGroup: "prcheck-$CI_MERGE_REQUEST_IID",
		Script: []string{
			KeepFromForks,
			"mkdir -p " + Folder + "/results",
			"failed=0",
			"runner report " + results + " --html " + Folder + "/report.html --junit " + Folder + "/junit.xml --codequality " +
				Folder + "/codequality.json --metrics " + Folder + "/metrics.txt --terraform " + Folder +
				"/terraform.json || failed=$?",
			"runner comment " + results + " --report " + Folder + "/report.html --out " + Folder +
				"/note.md --status none || failed=$?",
			`exit "$failed"`,
		},
		Artifacts: keepArtifacts(Folder+"/report.html", Folder+"/note.md", Folder+"/junit.xml", Folder+"/codequality.json",
			Folder+"/metrics.txt", Folder+"/terraform.json"),
	}
}

// noCheckoutVariables returns the variables of a job that needs no checkout.
func noCheckoutVariables() map[string]string { return map[string]string{"GIT_STRATEGY": "none"} }

// keepArtifacts returns the artifacts of a job, which are kept even if the job fails.
func keepArtifacts(paths ...string) *artifacts {
	return &artifacts{When: whenAlways, ExpireIn: "1 week", Paths: paths}
}
