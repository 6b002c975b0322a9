package submit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/archive"
	"github.com/app-sre/prcheck/runner/submit/jobs"
)

// Options say how a plan is run on Kubernetes.
type Options struct {
	Store string   // s3://BUCKET/PREFIX, where each submission gets a folder
	Job   jobs.Job // the Job; its Parts are the wanted number of parts, its Name may be ""
	Flags []string // more flags for "runner run" in each pod
	Logs  string   // the folder into which logs are fetched
}

// A Submission is a plan that is divided into parts and Jobs.
type Submission struct {
	plan   *plan.Plan
	opts   Options
	folder string // of the submission: s3://BUCKET/PREFIX/NAME
	parts  []plan.Part
	rounds []round
}

// New divides a plan into parts and gives the submission a name if it has none.
func New(p *plan.Plan, opts Options) Submission {
	if opts.Job.Name == "" {
		opts.Job.Name = "prcheck-" + strings.ToLower(rand.Text()[:12])
	}
	opts.Job.Labels = map[string]string{"prcheck/plan": labelValue(p.Digest)}
	opts.Job.Parts = countParts(p.Tasks, opts.Job.Parts)
	parts := plan.Partition(p.Tasks, opts.Job.Parts)
	return Submission{
		plan: p, opts: opts, folder: strings.TrimRight(opts.Store, "/") + "/" + opts.Job.Name,
		parts: parts, rounds: roundsOf(parts),
	}
}

// A Backend is the cluster that runs a submission, and the bucket that the pods read
// from and write to.
type Backend struct {
	Cluster   jobs.Cluster
	Namespace string                               // used if the Job names no namespace
	Bucket    *objects.Bucket                      // the bucket of Options.Store
	Files     func(context.Context) (Files, error) // returns the files that are uploaded
	Notes     io.Writer                            // takes lines about progress
}

// A session is one run of a submission on a backend.
type session struct {
	Submission
	Backend
	key string // of the submission's folder in the bucket
}

// Run stores what the pods need, runs one Job after the other, each until it ends, and
// returns the merged results of all parts.
func (s Submission) Run(ctx context.Context, on Backend) (*plan.Results, error) {
	if len(s.plan.Tasks) == 0 {
		return plan.MergeResults(s.plan)
	}
	if s.opts.Job.Namespace == "" {
		s.opts.Job.Namespace = on.Namespace
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(s.folder, "s3://"), "/")
	return session{s, on, key}.run(ctx)
}

func (s session) run(ctx context.Context) (*plan.Results, error) {
	end := time.Now().Add(s.opts.Job.Deadline)
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	var parts []*plan.Results
	var lost []string // warnings about parts and logs that are missing
	for i, r := range s.rounds {
		job := s.jobOf(i)
		if s.opts.Job.Deadline > 0 {
			job.Deadline = max(time.Until(end), time.Second)
		}
		status, err := s.runJob(ctx, job, i)
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), s.cancel(ctx, i))
		}
		if err != nil {
			return nil, err
		}
		collected, missing, err := s.collect(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 && status.Reason != "" {
			missing = append(missing, fmt.Sprintf("the cluster reports of the Job %s: %s", job.Name, status.Reason))
		}
		parts, lost = append(parts, collected...), append(lost, missing...)
	}
	merged, err := plan.MergeResults(s.plan, parts...)
	if err != nil {
		return nil, err
	}
	if err := s.fetchLogs(ctx, merged); err != nil {
		lost = append(lost, err.Error())
	}
	merged.Warnings = append(merged.Warnings, lost...)
	return merged, nil
}

// runJob runs the Job of a round until it ends. If the Job exists already, runJob waits for it.
func (s session) runJob(ctx context.Context, of jobs.Job, round int) (jobs.Status, error) {
	job, err := of.Manifest()
	if err != nil {
		return jobs.Status{}, cli.Usage(err)
	}
	if err := s.Cluster.Start(ctx, job); err != nil {
		return jobs.Status{}, err
	}
	parts := "1 part"
	if of.Parts > 1 {
		parts = fmt.Sprintf("%d parts", of.Parts)
	}
	if n := len(s.rounds); n > 1 {
		parts += fmt.Sprintf(", run order %d of %d", round+1, n)
	}
	s.say("Job %s/%s has %s", job.Namespace, job.Name, parts)
	return s.Cluster.Wait(ctx, job, func(now jobs.Status) { s.sayProgress(of.Parts, now) })
}

// cancelTime is how long removing the Jobs may take after the context ended.
const cancelTime = 30 * time.Second

// cancel removes the Jobs up to a round. Jobs that have ended are removed, too, so
// that a later command with the same name does not continue them.
func (s session) cancel(ctx context.Context, last int) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	var errs []error
	for i := last; i >= 0; i-- {
		job, err := s.jobOf(i).Manifest()
		if err == nil {
			err = s.Cluster.Cancel(ctx, job)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sayProgress writes one line about a Job that runs.
func (s session) sayProgress(parts int, now jobs.Status) {
	if now.Ended {
		return
	}
	text := fmt.Sprintf("%d of %d parts ended, %d run", now.Passed+now.Failed, parts, now.Running)
	if now.Stuck != "" {
		text += "; " + now.Stuck
	}
	s.say("%s", text)
}

// say writes one line for people. The submission goes on if it cannot be written.
func (s session) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Notes, "runner: "+format+"\n", args...)
}

// collect reads the results that the parts of a round have stored. A part counts as
// missing if it has no results, or results that do not belong to it; missing holds a
// sentence for each such part.
func (s session) collect(ctx context.Context, r round) (collected []*plan.Results, missing []string, err error) {
	for i := range r.parts {
		is := plan.Fraction{Part: r.first + i + 1, Of: s.opts.Job.Parts}
		raw, err := s.get(ctx, r.resultsName(fmt.Sprint(i)))
		if err != nil {
			return nil, nil, err
		}
		part, err := plan.ReadResults(bytes.NewReader(raw))
		switch {
		case raw == nil:
			missing = append(missing, fmt.Sprintf("part %s left no results", is))
		case err != nil:
			missing = append(missing, fmt.Sprintf("part %s left results that cannot be used: %v", is, err))
		case part.Plan != s.plan.Digest || part.Part != is || !hasOnly(part, s.parts[r.first+i].Tasks):
			missing = append(missing, fmt.Sprintf("part %s left results of another plan or part", is))
		default:
			collected = append(collected, part)
		}
	}
	return collected, missing, nil
}

// hasOnly reports whether each result belongs to one of these tasks.
func hasOnly(r *plan.Results, tasks []plan.Task) bool {
	ids := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		ids[t.ID] = true
	}
	return !slices.ContainsFunc(r.Results, func(r plan.Result) bool { return !ids[r.Task] })
}

// fetchLogs fetches the logs that the pods have stored beside their results.
func (s session) fetchLogs(ctx context.Context, r *plan.Results) error {
	return archive.LogStore{Bucket: s.Bucket, Folder: s.key}.Fetch(ctx, path.Base(podLogs), s.opts.Logs, r.Results)
}
