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

// indexVariable holds the index of a pod in its Indexed Job, counted from 0.
const indexVariable = "JOB_COMPLETION_INDEX"

// partOfPod returns the text from which [ParsePart] in each pod reads its part. If the first
// pod of a Job runs the fourth of eight parts, the text is "index+3/8".
func partOfPod(first, of int) string {
	index := "index"
	if first > 0 {
		index += "+" + strconv.Itoa(first)
	}
	return index + "/" + strconv.Itoa(of)
}

// A PartFlag is the value of a flag that names a part, as [ParsePart] reads it.
type PartFlag struct {
	*plan.Fraction
	Getenv func(string) string
}

// Set reads the value of the flag.
func (p PartFlag) Set(text string) error {
	part, err := ParsePart(text, p.Getenv)
	*p.Fraction = part
	return err
}

// ParsePart reads which part of a plan to run: i/n, or index/n and index+f/n with the
// pod's index from the variable JOB_COMPLETION_INDEX. In the pod with index 2,
// "index+3/8" is the sixth of eight parts.
func ParsePart(text string, getenv func(string) string) (part plan.Fraction, err error) {
	index, of, _ := strings.Cut(text, "/")
	offset, isIndex := strings.CutPrefix(index, "index")
	if !isIndex {
		return part, part.Set(text)
	}
	first := 0
	if offset != "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(offset, "+"), 10, 31)
		if err != nil || offset[0] != '+' {
			return part, fmt.Errorf("%q is no part of a plan; write index/8, or index+3/8", text)
		}
		first = int(n)
	}
	i, err := strconv.Atoi(getenv(indexVariable))
	if err != nil || i < 0 || i > plan.MaxParts {
		return part, fmt.Errorf("%s takes the number from %s, which is %q", text, indexVariable, getenv(indexVariable))
	}
	err = part.Set(fmt.Sprintf("%d/%s", first+i+1, of))
	return part, err
}
