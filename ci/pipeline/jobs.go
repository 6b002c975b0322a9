package pipeline

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// The keywords of GitLab that are used, in the order they are written.
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
	inputs = "prcheck-inputs"
	report = "prcheck-report"
	always = "always"
)

// A child is a child pipeline in the making.
type child struct {
	opts   Options
	groups []group
	out    yaml.Node
	err    error
}

// document returns the whole pipeline.
func (c *child) document() (*yaml.Node, error) {
	c.out.Kind = yaml.MappingNode
	if c.opts.Include != "" {
		c.add("include", []include{{c.opts.Include}})
	}
	// Without it jobs without rules are left out of pipelines of merge requests.
	c.add("workflow", workflow{[]rule{{always}}})
	c.add("stages", c.stages())
	if c.opts.Parent != "" {
		c.add("variables", map[string]string{"PRCHECK_GENERATION": c.opts.Parent})
	}
	c.add("default", defaults{
		Image: c.opts.Image, Tags: c.opts.Tags, Interruptible: true,
		Retry: retry{Max: 2, When: []string{"runner_system_failure", "scheduler_failure"}},
	})
	if c.opts.Parent != "" {
		c.add(inputs, c.inputs())
	}
	if len(c.groups) == 0 {
		c.add("prcheck-nothing", job{
			Stage: stage(0), Variables: noCheckout(), Script: []string{"echo 'nothing to run: no integration can see the change'"},
		})
	}
	for i := range c.groups {
		c.order(i)
	}
	c.add(report, c.report())
	return &c.out, c.err
}

// add adds a section or a job.
func (c *child) add(name string, content any) {
	var key, value yaml.Node
	key.SetString(name)
	if err := value.Encode(content); err != nil {
		c.err = err
	}
	c.out.Content = append(c.out.Content, &key, &value)
}

func (c *child) stages() []string {
	var all []string
	if c.opts.Parent != "" {
		all = append(all, "inputs")
	}
	for i := range max(len(c.groups), 1) {
		all = append(all, stage(i))
	}
	return append(all, "report")
}

// stage names the stage of the i-th order.
func stage(i int) string { return fmt.Sprintf("order-%d", i+1) }

// inputs fetches what the parent made, for all others to take: a job that needs
// one of another pipeline no longer waits for stages.
func (c *child) inputs() job {
	return job{
		Stage: "inputs", Variables: noCheckout(),
		Needs:     []need{{Pipeline: c.opts.Parent, Job: PlanJob, Artifacts: true}},
		Script:    []string{forget, "test -s " + planFile},
		Artifacts: kept(Folder + "/"),
	}
}

// order adds the jobs of one run order, each with up to 200 of its parts.
func (c *child) order(i int) {
	g := c.groups[i]
	for from := 0; from < g.count; from += maxParallel {
		n := min(maxParallel, g.count-from)
		j := job{
			Stage:     stage(i),
			Script:    c.script(g.first + from),
			Timeout:   minutes(slices.Max(g.timeouts[from : from+n])),
			Artifacts: kept(Folder+"/results/", Folder+"/logs/"),
		}
		if n > 1 {
			j.Parallel = n
		}
		if i > 0 {
			j.When = always
		}
		c.wait(&j, i)
		c.add(name(g.first+from, n), j)
	}
}

// wait makes a job wait for the order before and take its input from the first
// job. Without needs it waits for the stage before.
func (c *child) wait(j *job, i int) {
	var wanted []need
	if c.opts.Parent != "" {
		wanted = append(wanted, need{Job: inputs, Artifacts: true})
		j.Dependencies = []string{inputs}
	}
	if i > 0 {
		before := c.groups[i-1]
		if len(wanted)+before.count > maxNeeds {
			return
		}
		for from := 0; from < before.count; from += maxParallel {
			wanted = append(wanted, need{Job: name(before.first+from, min(maxParallel, before.count-from))})
		}
	}
	j.Needs, j.Dependencies = wanted, nil
}

// name names the job of n parts.
func name(first, n int) string {
	if n == 1 {
		return fmt.Sprintf("prcheck-part-%d", first)
	}
	return fmt.Sprintf("prcheck-parts-%d-to-%d", first, first+n-1)
}

// The jobs find the plan in planFile, and forget what another pipeline left in a
// folder that is used again.
const (
	planFile = Folder + "/plan.json"
	forget   = "rm -rf " + Folder + "/results " + Folder + "/logs"
)

// script runs the part that follows from the number of the instance; a job that
// is not parallel has none. PRCHECK_RUN_FLAGS is split at blanks and not looked at
// in any other way.
func (c *child) script(first int) []string {
	last := c.groups[len(c.groups)-1]
	total := last.first + last.count - 1
	return []string{
		fmt.Sprintf("part=$((%d + ${CI_NODE_INDEX:-1}))", first-1), forget, "mkdir -p " + Folder + "/results",
		fmt.Sprintf(`runner run --plan %s --partition "$part/%d" --logs %s/logs --out "%s/results/results-$part.json" $PRCHECK_RUN_FLAGS`,
			planFile, total, Folder, Folder),
	}
}

// report is the last job. By its stage it waits for all, and takes what each has
// kept; needs could not name so many.
func (c *child) report() job {
	const results = "--plan " + planFile + " --results " + Folder + "/results"
	return job{
		Stage: "report", When: always, ResourceGroup: "prcheck-$CI_MERGE_REQUEST_IID",
		Script: []string{
			"mkdir -p " + Folder + "/results",
			"failed=0",
			"runner report " + results + " --html " + Folder + "/report.html --junit " + Folder + "/junit.xml --codequality " + Folder + "/codequality.json --metrics " + Folder + "/metrics.txt || failed=$?",
			"runner comment " + results + " --report " + Folder + "/report.html --out " + Folder + "/note.md --status none || failed=$?",
			`exit "$failed"`,
		},
		Artifacts: kept(Folder+"/report.html", Folder+"/note.md", Folder+"/junit.xml", Folder+"/codequality.json", Folder+"/metrics.txt"),
	}
}

func noCheckout() map[string]string { return map[string]string{"GIT_STRATEGY": "none"} }

func kept(paths ...string) *artifacts {
	return &artifacts{When: always, ExpireIn: "1 week", Paths: paths}
}
