package submit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/submit/jobs"
)

// A round is a set of parts that run at the same time: all parts of one run order. If
// the plan has only one part, that part is the only round and holds all run orders.
type round struct {
	first int // index of the first part
	parts int // how many
}

// roundsOf groups the parts by their run order. Parts of one run order must be adjacent.
func roundsOf(parts []plan.Part) []round {
	var out []round
	for i, p := range parts {
		if i == 0 || p.Order != parts[i-1].Order {
			out = append(out, round{first: i})
		}
		out[len(out)-1].parts++
	}
	return out
}

// countParts returns into how many parts a plan is divided: the wanted number, but at
// most one per task. Several parts are at least one per run order: tasks of a later order
// wait for those of an earlier order, and parts of the same Job cannot wait for each other.
func countParts(tasks []plan.Task, wanted int) int {
	var orders []int
	for _, t := range tasks {
		orders = append(orders, t.Order)
	}
	slices.Sort(orders)
	n := max(min(wanted, len(tasks), plan.MaxParts), 1)
	if n > 1 {
		n = max(n, len(slices.Compact(orders)))
	}
	return n
}

// resultsName returns the name of the file with the results of a part. The index of
// the part within the round is a number, or a variable that Kubernetes fills in.
func (r round) resultsName(index string) string {
	return fmt.Sprintf("results-%d-%s.json", r.first, index)
}

// jobOf returns the Job of a round, given the round's index.
func (s Submission) jobOf(i int) jobs.Job {
	job, r := s.opts.Job, s.rounds[i]
	job.Name, job.Parts = s.jobName(i), r.parts
	job.Command = append(s.podCommand(r), s.opts.Flags...)
	return job
}

// jobName returns the name of the Job of a round. If there is only one Job, its name
// has no number.
func (s Submission) jobName(i int) string {
	if len(s.rounds) == 1 {
		return s.opts.Job.Name
	}
	return s.opts.Job.Name + "-" + strconv.Itoa(i+1)
}

// The names of files in the submission's folder, and of the folder for logs in a pod.
const (
	planName     = "plan.json"
	baseName     = "base.json"
	headName     = "head.json"
	settingsName = "prcheck.yaml"
	podLogs      = "/work/logs"
)

// podCommand returns the command of each pod of a round.
func (s Submission) podCommand(r round) []string {
	argv := []string{"runner", "run", "--plan", s.folder + "/" + planName, "--base", s.folder + "/" + baseName, "--head",
		s.folder + "/" + headName}
	if s.plan.Config != "" {
		argv = append(argv, "--config", s.folder+"/"+settingsName)
	}
	return append(argv, "--partition", partOfPod(r.first, s.opts.Job.Parts), "--logs", podLogs, "--progress", "plain",
		"--out", s.folder+"/"+r.resultsName("$("+indexVariable+")"))
}

// labelValue shortens a digest to a value that a label may have.
func labelValue(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 40)]
}

// Manifest returns what kubectl could apply: the Job, or a List of all Jobs in the
// order in which they run. A Job without a namespace is in the namespace default.
func (s Submission) Manifest() (any, error) {
	if s.opts.Job.Namespace == "" {
		s.opts.Job.Namespace = "default"
	}
	var items []any
	for i := range s.rounds {
		job, err := s.jobOf(i).Manifest()
		if err != nil {
			return nil, cli.Usage(err)
		}
		items = append(items, job)
	}
	if len(items) == 1 {
		return items[0], nil
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, nil
}
