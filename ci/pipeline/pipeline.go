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

// Limits of GitLab, and of ours.
const (
	maxParallel = 200 // instances of one job
	maxNeeds    = 50  // jobs that one job needs, each instance counted

	// MaxOrders is how many run orders become stages.
	MaxOrders = 100

	partSeconds = 600 // of estimated work in one part, unless the number is given
	guess       = 60  // seconds that a task without an estimate counts there
	manyParts   = 40  // at most, unless the number is given: all fit into needs

	attempts   = 2                // of a task that runs out of time
	margin     = 30 * time.Minute // of a job, beyond the timeouts of its tasks; runs on base take up to ten minutes
	maxTimeout = 24 * time.Hour
)

// Options are the settings of [Write]. The zero value works.
type Options struct {
	// Parent is the id of the pipeline that holds the job PlanJob, in digits. With
	// "" the plan and the bundles must be in the checkout.
	Parent  string
	Parts   int      // how many; 0 means as the estimates suggest
	Image   string   // of all jobs; "" for the runner's default
	Tags    []string // of the runners that take the jobs
	Include string   // a CI file of the repository whose default section holds for all jobs
}

// PlanJob is the job of the parent pipeline whose artifacts the child works on:
// the folder [Folder] with plan.json in it, and bundles beside it.
const PlanJob = "prcheck-plan"

// Folder holds all that the jobs hand to each other.
const Folder = "prcheck"

// Write writes the child pipeline of a plan.
func Write(w io.Writer, p *plan.Plan, opts Options) error {
	if strings.Trim(opts.Parent, "0123456789") != "" {
		return fmt.Errorf("the parent pipeline %q is not a number", opts.Parent)
	}
	c := &child{opts: opts, groups: divide(p.Tasks, opts.Parts)}
	doc, err := c.document()
	if err != nil {
		return fmt.Errorf("writing the pipeline: %w", err)
	}
	var text bytes.Buffer // the encoder hides why a writer failed
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return fmt.Errorf("writing the pipeline: %w", err)
	}
	_, err = text.WriteTo(w)
	return err
}

// A group is the parts of one run order.
type group struct {
	first, count int // parts are numbered from 1
	timeouts     []time.Duration
}

// divide says which parts there are, in their orders.
func divide(tasks []plan.Task, parts int) []group {
	if len(tasks) == 0 {
		return nil
	}
	var groups []group
	order := 0
	for i, part := range plan.Partition(tasks, Parts(tasks, parts)) {
		if i == 0 || part.Order != order {
			groups = append(groups, group{first: i + 1})
			order = part.Order
		}
		g := &groups[len(groups)-1]
		g.count++
		g.timeouts = append(g.timeouts, timeout(part.Tasks))
	}
	return groups
}

// Parts returns into how many parts a pipeline divides tasks: as many as are
// wanted, or with 0 one for every ten minutes of estimated work and at most 40;
// but one for each run order at least, and no more than there are tasks. No tasks
// need no part.
func Parts(tasks []plan.Task, wanted int) int {
	orders, work := map[int]bool{}, 0.0
	for _, t := range tasks {
		orders[t.Order] = true
		if t.EstimateSeconds > 0 {
			work += t.EstimateSeconds
		} else {
			work += guess
		}
	}
	if len(orders) > MaxOrders {
		return 1
	}
	if wanted <= 0 {
		wanted = int(min(math.Ceil(work/partSeconds), manyParts))
	}
	return min(max(wanted, len(orders)), len(tasks), plan.MaxParts)
}

// timeout bounds a part by what its tasks may take one after the other. A job that
// ends before its runner leaves no results.
func timeout(tasks []plan.Task) time.Duration {
	sum := margin
	for _, t := range tasks {
		limit, _ := time.ParseDuration(t.Timeout) // a plan that was read has only good ones
		if limit > maxTimeout {
			return maxTimeout
		}
		if sum += attempts * limit; sum > maxTimeout {
			return maxTimeout
		}
	}
	return sum
}

// minutes writes a duration as GitLab reads it.
func minutes(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Minutes()))) + " minutes"
}
