package submit

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
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

// Files are the files that pods need beside the plan.
type Files struct {
	Settings   []byte // stored only if the plan was made with settings
	Base, Head File
}

// A File is a bundle file with its name for errors.
type File struct {
	Name string
	Raw  []byte
}

// maxFile is the size in bytes up to which a file of the bucket is read.
const maxFile = 4 << 30

// begin stores the files that the pods need, or continues a submission of the same name.
// A submission is continued only if it has the same plan and its first Job still exists:
// otherwise the results in the bucket may come from another Job.
func (s session) begin(ctx context.Context) error {
	first, err := s.jobOf(0).Manifest()
	if err != nil {
		return cli.Usage(err)
	}
	old, err := s.get(ctx, planName)
	if err != nil {
		return err
	}
	if old == nil {
		return s.upload(ctx)
	}
	if used, err := plan.Read(bytes.NewReader(old)); err != nil || used.Digest != s.plan.Digest {
		return cli.Usage(fmt.Errorf("%s has been used for another plan: give the Job another --name", s.folder))
	}
	exists, err := s.Cluster.Has(ctx, first)
	if err == nil && !exists {
		err = cli.Usage(fmt.Errorf("%s has been used, and its Job is gone: give the Job another --name", s.folder))
	}
	if err == nil {
		s.say("continuing the Job %s/%s", first.Namespace, first.Name)
	}
	return err
}

// upload stores settings, bundles and plan, in this order. The bundles must be those
// of the plan.
func (s session) upload(ctx context.Context) error {
	files, err := s.Files(ctx)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		File
		side plan.Side
	}{{files.Base, s.plan.Base}, {files.Head, s.plan.Head}} {
		if err := b.side.CheckBundle(b.Name, fmt.Sprintf("%x", sha256.Sum256(b.Raw))); err != nil {
			return cli.Invalid(err)
		}
	}
	if s.plan.Config != "" {
		if err := s.put(ctx, settingsName, files.Settings); err != nil {
			return err
		}
	}
	if err := s.put(ctx, baseName, files.Base.Raw); err != nil {
		return err
	}
	if err := s.put(ctx, headName, files.Head.Raw); err != nil {
		return err
	}
	var raw bytes.Buffer
	if err := plan.Write(&raw, s.plan); err != nil {
		return err
	}
	return s.put(ctx, planName, raw.Bytes())
}

// put stores a file in the submission's folder.
func (s session) put(ctx context.Context, name string, raw []byte) error {
	if _, err := s.Bucket.Put(ctx, s.key+"/"+name, raw, objects.Any); err != nil {
		return fmt.Errorf("writing %s/%s: %w", s.folder, name, err)
	}
	return nil
}

// get reads a file of the submission's folder, nil if there is none.
func (s session) get(ctx context.Context, name string) ([]byte, error) {
	raw, _, err := s.Bucket.Get(ctx, s.key+"/"+name, maxFile)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s/%s: %w", s.folder, name, err)
	}
	return raw, nil
}
