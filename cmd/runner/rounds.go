package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/kube"
	"github.com/app-sre/prcheck/plan"
)

// A round is what runs at the same time: parts of one run order, or the one part
// that holds all of them.
type round struct{ first, parts int }

// rounds puts parts of the same order together, which stand side by side.
func rounds(parts []plan.Part) []round {
	var out []round
	for i, p := range parts {
		if i == 0 || p.Order != parts[i-1].Order {
			out = append(out, round{first: i})
		}
		out[len(out)-1].parts++
	}
	return out
}

// divided is how many parts there are. Two parts of mixed orders could not wait
// for each other, so there is one, which keeps the orders by itself, or one for
// each order.
func divided(tasks []plan.Task, wanted int) int {
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

// results names the results of a part by its index in the round.
func (r round) results(index string) string {
	return fmt.Sprintf("results-%d-%s.json", r.first, index)
}

// jobOf is the Job of a round.
func (s submission) jobOf(p *plan.Plan, i int) kube.Job {
	job, r := s.job, s.rounds[i]
	job.Name, job.Parts = s.name(i), r.parts
	job.Command = append(s.inPod(p, r), s.flags...)
	return job
}

// name is the name of the Job of a round; the only one has no number.
func (s submission) name(i int) string {
	if len(s.rounds) == 1 {
		return s.job.Name
	}
	return s.job.Name + "-" + strconv.Itoa(i+1)
}

const (
	planName = "plan.json"
	podLogs  = "/work/logs" // in a pod
)

// inPod is the command of each pod of a round.
func (s submission) inPod(p *plan.Plan, r round) []string {
	argv := []string{"runner", "run", "--plan", s.at + "/" + planName, "--base", s.at + "/base.json", "--head", s.at + "/head.json"}
	if p.Config != "" {
		argv = append(argv, "--config", s.at+"/prcheck.yaml")
	}
	index := "index"
	if r.first > 0 {
		index += "+" + strconv.Itoa(r.first)
	}
	return append(argv, "--partition", index+"/"+strconv.Itoa(s.job.Parts), "--logs", podLogs, "--progress", "plain",
		"--out", s.at+"/"+r.results("$(JOB_COMPLETION_INDEX)"))
}

// labelled is a digest as a label may hold it.
func labelled(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 40)]
}

// manifest prints the Job, in the default namespace when none is named, or a list
// of all Jobs in the order in which they run.
func (s submission) manifest(env cli.Env, p *plan.Plan) error {
	if s.job.Namespace == "" {
		s.job.Namespace = "default"
	}
	var items []any
	for i := range s.rounds {
		job, err := s.jobOf(p, i).Manifest()
		if err != nil {
			return cli.Usage(err)
		}
		items = append(items, job)
	}
	out := json.NewEncoder(env.Stdout)
	out.SetIndent("", "  ")
	if len(items) == 1 {
		return out.Encode(items[0])
	}
	return out.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
