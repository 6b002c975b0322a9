package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/kube"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/logs"
	"github.com/app-sre/prcheck/source"
)

// A submission is a plan on its way through a cluster.
type submission struct {
	submitFlags
	cluster kube.Cluster
	at      string // in the bucket
	parts   []plan.Part
	rounds  []round
}

// prepare decides on the name, the place in the bucket and the parts.
func (s *submission) prepare(p *plan.Plan) {
	if s.job.Name == "" {
		s.job.Name = "prcheck-" + strings.ToLower(rand.Text()[:12])
	}
	s.job.Labels = map[string]string{"prcheck/plan": labelled(p.Digest)}
	s.at = strings.TrimRight(s.store, "/") + "/" + s.job.Name
	s.job.Parts = divided(p.Tasks, s.job.Parts)
	s.parts = plan.Partition(p.Tasks, s.job.Parts)
	s.rounds = rounds(s.parts)
}

// run stores what the pods need, runs one Job after the other, each to its end,
// and returns what all parts said.
func (s submission) run(ctx context.Context, env cli.Env, p *plan.Plan) (*plan.Results, error) {
	if len(p.Tasks) == 0 {
		return plan.MergeResults(p)
	}
	end := time.Now().Add(s.job.Deadline)
	if err := s.begin(ctx, env, p); err != nil {
		return nil, err
	}
	var parts []*plan.Results
	var lost []string
	for i, r := range s.rounds {
		job := s.jobOf(p, i)
		if s.job.Deadline > 0 {
			job.Deadline = max(time.Until(end), time.Second)
		}
		status, err := s.runJob(ctx, env, job, i)
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), s.cancel(ctx, p, i))
		}
		if err != nil {
			return nil, err
		}
		said, missing, err := s.collect(ctx, p, r)
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 && status.Reason != "" {
			missing = append(missing, fmt.Sprintf("the cluster says of the Job %s: %s", job.Name, status.Reason))
		}
		parts, lost = append(parts, said...), append(lost, missing...)
	}
	merged, err := plan.MergeResults(p, parts...)
	if err != nil {
		return nil, err
	}
	if err := s.fetch(ctx, merged); err != nil {
		lost = append(lost, err.Error())
	}
	merged.Warnings = append(merged.Warnings, lost...)
	return merged, nil
}

// runJob runs the Job of a round, or waits for it when it is there already.
func (s submission) runJob(ctx context.Context, env cli.Env, of kube.Job, round int) (kube.Status, error) {
	job, err := of.Manifest()
	if err != nil {
		return kube.Status{}, cli.Usage(err)
	}
	if err := s.cluster.Start(ctx, job); err != nil {
		return kube.Status{}, err
	}
	has := "1 part"
	if of.Parts > 1 {
		has = fmt.Sprintf("%d parts", of.Parts)
	}
	if n := len(s.rounds); n > 1 {
		has += fmt.Sprintf(", run order %d of %d", round+1, n)
	}
	_, _ = fmt.Fprintf(env.Stderr, "runner: Job %s/%s has %s\n", job.Namespace, job.Name, has) // only a note
	return s.cluster.Wait(ctx, job, func(now kube.Status) { tell(env, of.Parts, now) })
}

// cancel removes the Jobs up to this round, also those that have ended: then none
// of them is taken up again.
func (s submission) cancel(ctx context.Context, p *plan.Plan, last int) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	var errs []error
	for i := last; i >= 0; i-- {
		job, err := s.jobOf(p, i).Manifest()
		if err == nil {
			err = s.cluster.Cancel(ctx, job)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// tell is one line of progress.
func tell(env cli.Env, parts int, now kube.Status) {
	if now.Ended {
		return
	}
	text := fmt.Sprintf("runner: %d of %d parts ended, %d run", now.Passed+now.Failed, parts, now.Running)
	if now.Stuck != "" {
		text += "; " + now.Stuck
	}
	_, _ = fmt.Fprintln(env.Stderr, text) // only a note
}

// collect reads what the parts of a round have written. What is there and not of
// its part is as good as nothing.
func (s submission) collect(ctx context.Context, p *plan.Plan, r round) (said []*plan.Results, missing []string, err error) {
	for i := range r.parts {
		is := plan.Fraction{Part: r.first + i + 1, Of: s.job.Parts}
		raw, err := source.Object(ctx, s.at+"/"+r.results(fmt.Sprint(i)))
		if err != nil {
			return nil, nil, err
		}
		part, err := plan.ReadResults(bytes.NewReader(raw))
		switch {
		case raw == nil:
			missing = append(missing, fmt.Sprintf("part %s left no results", is))
		case err != nil:
			missing = append(missing, fmt.Sprintf("part %s left none that can be used: %v", is, err))
		case part.Plan != p.Digest || part.Part != is || !only(part, s.parts[r.first+i].Tasks):
			missing = append(missing, fmt.Sprintf("part %s left results of something else", is))
		default:
			said = append(said, part)
		}
	}
	return said, missing, nil
}

// only tells whether results are of these tasks and no others.
func only(r *plan.Results, tasks []plan.Task) bool {
	ids := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		ids[t.ID] = true
	}
	return !slices.ContainsFunc(r.Results, func(r plan.Result) bool { return !ids[r.Task] })
}

// fetch fetches the logs that the pods have stored beside their results.
func (s submission) fetch(ctx context.Context, r *plan.Results) error {
	bucket, key, err := source.Bucket(ctx, s.at+"/"+planName)
	if err != nil {
		return err
	}
	return logs.Place{Bucket: bucket, Folder: path.Dir(key)}.Fetch(ctx, path.Base(podLogs), s.submitFlags.run.logs, r.Results)
}
