package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/kube"
	"github.com/app-sre/prcheck/plan"
)

type submitFlags struct {
	run        runFlags // plan, base, head, config and out
	kubernetes bool
	print      bool
	store      string
	job        kube.Job
	flags      []string // of runner run
}

func submitCommand(env cli.Env) *cobra.Command {
	var f submitFlags
	cmd := &cobra.Command{
		Use:   "submit --kubernetes --plan FILE --store s3://BUCKET/PREFIX --image IMAGE [flags] [-- RUN-FLAGS]",
		Short: "Run a plan in parts on Kubernetes",
		Long: `submit puts the plan, both bundles and the settings into a bucket, creates an
Indexed Job with a pod for each part, waits for its end and puts the results of the
parts together. A part without results has failed. The cluster is the one that
kubectl would take; the pods get their access to the bucket from --env-secret. After
ctrl-C the Job is removed.

What follows two dashes are flags of runner run in each pod. With --print the manifest of the Job goes to stdout, and nothing else happens.`,
		Example: `  runner submit --kubernetes --plan plan.json --store s3://checks/runs --image registry.example.com/prcheck:1 \
    --parts 8 --memory 2Gi --env-secret bucket-access --out results.json -- --jobs 4 --state s3://checks/state
  runner report --plan plan.json --results results.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
				return cli.Usage(fmt.Errorf("unexpected argument %q; flags of runner run come after two dashes", args[0]))
			}
			f.flags = args
			return submit(cmd.Context(), env, f)
		},
	}
	flags, job := cmd.Flags(), &f.job
	flags.BoolVar(&f.kubernetes, "kubernetes", false, "run it on Kubernetes (required; there is no other place yet)")
	flags.StringVar(&f.run.plan, "plan", "", "plan that planner wrote (required)")
	flags.StringVar(&f.run.base, "base", "", "bundle before the change, when it is not where the plan says")
	flags.StringVar(&f.run.head, "head", "", "bundle with the change, when it is not where the plan says")
	flags.StringVar(&f.run.config, "config", "", "settings the plan was made with, as for runner run")
	flags.StringVar(&f.store, "store", "", "s3://BUCKET/PREFIX for what the pods read and write (required)")
	flags.StringVar(&f.run.out, "out", "", "file for the results (default stdout)")
	flags.BoolVar(&f.print, "print", false, "print the manifest and do nothing else")
	flags.StringVar(&job.Image, "image", "", "image with the runner and the integrations (required)")
	flags.IntVar(&job.Parts, "parts", 8, "how many parts the plan is divided into, at most one per task")
	flags.IntVar(&job.AtOnce, "at-once", 0, "how many pods run at once (default all)")
	flags.IntVar(&job.Retries, "retries", 1, "how often a part is tried again when its pod was lost or could not do its work")
	flags.DurationVar(&job.Deadline, "deadline", time.Hour, "how long all of it may take")
	flags.DurationVar(&job.Keep, "keep", time.Hour, "how long the ended Job stays")
	flags.StringVar(&job.Namespace, "namespace", "", "namespace (default that of kubectl)")
	flags.StringVar(&job.Name, "name", "", "name of the Job (default one that is new)")
	flags.StringVar(&job.CPU, "cpu", "", "processors for each pod, such as 2 or 500m")
	flags.StringVar(&job.Memory, "memory", "", "memory for each pod, such as 2Gi")
	flags.StringVar(&job.ServiceAccount, "service-account", "", "account of the pods (default that of the namespace)")
	flags.StringArrayVar(&job.EnvSecrets, "env-secret", nil, "Secret whose keys become variables of the pods (repeatable)")
	flags.StringToStringVar(&job.Env, "env", nil, "plain variables of the pods, NAME=VALUE; never a secret")
	return cmd
}

func submit(ctx context.Context, env cli.Env, f submitFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := source.ReadPlan(f.run.plan)
	if err != nil {
		return err
	}
	f.job.Parts = max(min(f.job.Parts, len(p.Tasks)), 1)
	if f.job.Name == "" {
		f.job.Name = "prcheck-" + strings.ToLower(rand.Text()[:12])
	}
	at := strings.TrimRight(f.store, "/") + "/" + f.job.Name
	f.job.Command = append(inPod(at, p, f.job.Parts), f.flags...)
	f.job.Labels = map[string]string{"prcheck/plan": labelled(p.Digest)}
	if f.print {
		return f.manifest(env)
	}
	if err := f.manifest(cli.Env{Stdout: io.Discard}); err != nil {
		return err
	}
	cluster, namespace, err := kube.Connect(env.Getenv)
	if err != nil {
		return err
	}
	if f.job.Namespace == "" {
		f.job.Namespace = namespace
	}
	results, err := submission{f, cluster, at}.run(ctx, env, p)
	if err != nil {
		return err
	}
	err = writeResults(env.Stdout, f.run.out, results)
	if results.Failed() {
		err = errors.Join(err, cli.ErrFailed)
	}
	return err
}

func (f submitFlags) check() error {
	switch {
	case !f.kubernetes:
		return cli.Usage(errors.New("--kubernetes is required: where to run the plan"))
	case !source.IsObject(f.store):
		return cli.Usage(errors.New("--store is required: s3://BUCKET/PREFIX for what the pods read and write"))
	case f.job.Image == "":
		return cli.Usage(errors.New("--image is required: the one with the runner and the integrations"))
	case f.job.Parts < 1:
		return cli.Usage(errors.New("--parts must be at least 1"))
	}
	return nil
}

// inPod is the command of each pod.
func inPod(at string, p *plan.Plan, parts int) []string {
	argv := []string{"runner", "run", "--plan", at + "/plan.json", "--base", at + "/base.json", "--head", at + "/head.json"}
	if p.Config != "" {
		argv = append(argv, "--config", at+"/prcheck.yaml")
	}
	return append(argv, "--partition", "index/"+strconv.Itoa(parts), "--logs", "/work/logs", "--progress", "plain",
		"--out", at+"/results-$(JOB_COMPLETION_INDEX).json")
}

// labelled is a digest as a label may hold it.
func labelled(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 40)]
}

// manifest prints the Job, in the default namespace when none is named.
func (f submitFlags) manifest(env cli.Env) error {
	if f.job.Namespace == "" {
		f.job.Namespace = "default"
	}
	job, err := f.job.Manifest()
	if err != nil {
		return cli.Usage(err)
	}
	out := json.NewEncoder(env.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(job)
}

// A submission is a Job in the making.
type submission struct {
	submitFlags
	cluster kube.Cluster
	at      string // in the bucket
}

// run stores what the pods need, runs the Job to its end, and returns what its
// parts said.
func (s submission) run(ctx context.Context, env cli.Env, p *plan.Plan) (*plan.Results, error) {
	job, err := s.job.Manifest()
	if err != nil {
		return nil, cli.Usage(err)
	}
	if len(p.Tasks) == 0 {
		return plan.MergeResults(p)
	}
	if err := s.upload(ctx, env, p); err != nil {
		return nil, err
	}
	if err := s.cluster.Start(ctx, job); err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(env.Stderr, "runner: Job %s/%s has %d parts\n", job.Namespace, job.Name, s.job.Parts) // only a note
	end, err := s.cluster.Wait(ctx, job, func(now kube.Status) { tell(env, s.job.Parts, now) })
	if err != nil {
		clear, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return nil, errors.Join(err, s.cluster.Cancel(clear, job))
	}
	return s.collect(ctx, p, end)
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

// upload stores plan, bundles and settings. They are held to the plan by whoever
// reads them.
func (s submission) upload(ctx context.Context, env cli.Env, p *plan.Plan) error {
	old, err := source.Object(ctx, s.at+"/plan.json")
	if err != nil {
		return err
	}
	if old != nil {
		return cli.Usage(fmt.Errorf("%s has been used: give the Job another --name", s.at))
	}
	files, err := s.files(ctx, env, p)
	if err != nil {
		return err
	}
	for _, f := range files { // the plan last: it says that all is there
		if err := source.Put(ctx, s.at+"/"+f.name, f.raw); err != nil {
			return err
		}
	}
	return nil
}

type storedFile struct {
	name string
	raw  []byte
}

// files are the settings, the bundles and the plan, each held to the plan.
func (s submission) files(ctx context.Context, env cli.Env, p *plan.Plan) ([]storedFile, error) {
	flags := s.submitFlags.run
	rules, err := flags.rules(ctx, env, p)
	if err != nil {
		return nil, err
	}
	var out []storedFile
	if p.Config != "" {
		out = append(out, storedFile{"prcheck.yaml", rules.Text()})
	}
	open := rules.With(source.In(env))
	for _, b := range []struct {
		name, flag string
		side       plan.Side
	}{{"base.json", flags.base, p.Base}, {"head.json", flags.head, p.Head}} {
		ref := flags.reference(b.flag, b.side)
		raw, err := open.Bytes(ctx, ref)
		if err == nil {
			err = held(ref, fmt.Sprintf("%x", sha256.Sum256(raw)), b.side)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, storedFile{b.name, raw})
	}
	var raw bytes.Buffer
	if err := plan.Write(&raw, p); err != nil {
		return nil, err
	}
	return append(out, storedFile{"plan.json", raw.Bytes()}), nil
}

// collect puts together what the parts have written. Why a part has not, the
// warnings say as far as the cluster knows.
func (s submission) collect(ctx context.Context, p *plan.Plan, end kube.Status) (*plan.Results, error) {
	var parts []*plan.Results
	var lost []string
	for i := range s.job.Parts {
		name := fmt.Sprintf("%s/results-%d.json", s.at, i)
		raw, err := source.Object(ctx, name)
		if err != nil {
			return nil, err
		}
		part, err := plan.ReadResults(bytes.NewReader(raw))
		if err != nil {
			lost = append(lost, fmt.Sprintf("part %d/%d left no results", i+1, s.job.Parts))
			continue
		}
		parts = append(parts, part)
	}
	merged, err := plan.MergeResults(p, parts...)
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 && end.Reason != "" {
		lost = append(lost, "the cluster says of the Job: "+end.Reason)
	}
	merged.Warnings = append(merged.Warnings, lost...)
	return merged, nil
}
