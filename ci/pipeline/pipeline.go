package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/plan"
)

// Limits of GitLab and of this package.
const (
	maxParallel = 200 // instances of one job
	maxNeeds    = 50  // jobs that one job needs; each instance counts

	// MaxOrders is the largest number of run orders that become stages.
	MaxOrders = 100

	partSeconds     = 600 // estimated seconds of work per part, if the number of parts is not given
	defaultEstimate = 60  // estimated seconds of a task without an estimate
	maxDefaultParts = 40  // largest number of parts, if it is not given; the next order can need them all

	taskAttempts = 2                // attempts of a task that times out
	jobMargin    = 30 * time.Minute // time of a job beside its tasks; runs on base take up to ten minutes of it
	maxTimeout   = 24 * time.Hour   // of a job
)

// Options are the settings of [Write]. The zero value works.
type Options struct {
	// Parent is the id of the pipeline with the job [PlanJob], in digits. If it is
	// "", the plan and the bundles must be in the checkout.
	Parent  string
	Parts   int      // number of parts; 0 means that the estimates decide
	Image   string   // image of all jobs; "" means the default of GitLab's runner
	Tags    []string // tags of the GitLab runners that take the jobs
	Include string   // path of a CI file in the repository, whose default section holds for all jobs
}

// PlanJob is the name of the job of the parent pipeline that makes the plan. Its artifacts
// are the folder [Folder] with plan.json and the bundles.
const PlanJob = "prcheck-plan"

// Folder is the folder with all files that jobs pass to other jobs.
const Folder = "prcheck"

// Write writes the child pipeline of a plan as YAML.
func Write(w io.Writer, p *plan.Plan, opts Options) error {
	if strings.Trim(opts.Parent, "0123456789") != "" {
		return fmt.Errorf("the parent pipeline %q is not a number", opts.Parent)
	}
	c := &childPipeline{opts: opts, orders: groupByOrder(p.Tasks, opts.Parts)}
	doc, err := c.document()
	if err != nil {
		return fmt.Errorf("writing the pipeline: %w", err)
	}
	var text bytes.Buffer // the YAML encoder loses the error of a writer
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return fmt.Errorf("writing the pipeline: %w", err)
	}
	_, err = text.WriteTo(w)
	return err
}

// An orderParts lists the parts of one run order.
type orderParts struct {
	first, count int // parts are numbered from 1
	timeouts     []time.Duration
}

// groupByOrder divides tasks into parts and groups the parts by their run order.
func groupByOrder(tasks []plan.Task, parts int) []orderParts {
	if len(tasks) == 0 {
		return nil
	}
	var groups []orderParts
	order := 0
	for i, part := range plan.Partition(tasks, CountParts(tasks, parts)) {
		if i == 0 || part.Order != order {
			groups = append(groups, orderParts{first: i + 1})
			order = part.Order
		}
		g := &groups[len(groups)-1]
		g.count++
		g.timeouts = append(g.timeouts, partTimeout(part.Tasks))
	}
	return groups
}

// CountParts returns the number of parts into which a pipeline divides tasks. If wanted is
// 0, this is one part per ten minutes of estimated work, at most 40. There is at least one
// part per run order, and there are at most as many parts as tasks.
func CountParts(tasks []plan.Task, wanted int) int {
	orders, work := map[int]bool{}, 0.0
	for _, t := range tasks {
		orders[t.Order] = true
		if t.EstimateSeconds > 0 {
			work += t.EstimateSeconds
		} else {
			work += defaultEstimate
		}
	}
	if len(orders) > MaxOrders {
		return 1
	}
	if wanted <= 0 {
		wanted = int(min(math.Ceil(work/partSeconds), maxDefaultParts))
	}
	return min(max(wanted, len(orders)), len(tasks), plan.MaxParts)
}

// partTimeout returns the timeout of the job of a part: the time that its tasks may take one
// after the other. If GitLab ended the job before its runner, there would be no results.
func partTimeout(tasks []plan.Task) time.Duration {
	sum := jobMargin
	for _, t := range tasks {
		limit, _ := time.ParseDuration(t.Timeout) // plan.Read has checked it
		if limit > maxTimeout {
			return maxTimeout
		}
		if sum += taskAttempts * limit; sum > maxTimeout {
			return maxTimeout
		}
	}
	return sum
}

// formatMinutes returns a duration in the format of GitLab.
func formatMinutes(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Minutes()))) + " minutes"
}
