package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/kube"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/submit"
	"github.com/app-sre/prcheck/source"
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
Indexed Job with a pod for each part, waits for its end, puts the results of the
parts together and fetches their logs. A part without results has failed. A plan
with several run orders is one Job after the other. The cluster is the one that
kubectl would take; the pods get their access to the bucket from --env-secret. After
ctrl-C the Job is removed; one whose submit was killed is taken up again by the same
command with the same --name.

What follows two dashes are flags of runner run in each pod. With --print the
manifest of the Job goes to stdout, or a List of several, and nothing else
happens.`,
		Example: `  runner submit --kubernetes --plan plan.json --store s3://checks/runs --image registry.example.com/prcheck:1 \
    --parts 8 --memory 2Gi --env-secret bucket-access --out results.json -- --jobs 4 --state s3://checks/state
  runner report --plan plan.json --results results.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
				return cli.Usage(fmt.Errorf("unexpected argument %q; flags of runner run come after two dashes", args[0]))
			}
			f.flags = args
			if err := checkRunFlags(env, args); err != nil {
				return err
			}
			return submitPlan(cmd.Context(), env, f)
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
	flags.StringVar(&f.run.logs, "logs", "logs", "folder for the complete logs")
	flags.BoolVar(&f.print, "print", false, "print the manifest and do nothing else")
	flags.StringVar(&job.Image, "image", "", "image with the runner and the integrations (required)")
	flags.IntVar(&job.Parts, "parts", 8, "how many parts the plan is divided into, at most one per task and, when there are several, at least one per run order")
	flags.IntVar(&job.AtOnce, "at-once", 0, "how many pods run at once (default all)")
	flags.IntVar(&job.Retries, "retries", 1, "how often a part is tried again when its pod was lost or could not do its work")
	flags.DurationVar(&job.Deadline, "deadline", time.Hour, "how long all of it may take")
	flags.DurationVar(&job.Keep, "keep", time.Hour, "how long the ended Job stays")
	flags.StringVar(&job.Namespace, "namespace", "", "namespace (default that of kubectl)")
	flags.StringVar(&job.Name, "name", "", "name of the Job, or of several without their number (default one that is new)")
	flags.StringVar(&job.CPU, "cpu", "", "processors for each pod, such as 2 or 500m")
	flags.StringVar(&job.Memory, "memory", "", "memory for each pod, such as 2Gi")
	flags.StringVar(&job.ServiceAccount, "service-account", "", "account of the pods (default that of the namespace)")
	flags.StringArrayVar(&job.EnvSecrets, "env-secret", nil, "Secret whose keys become variables of the pods (repeatable)")
	flags.StringToStringVar(&job.Env, "env", nil, "plain variables of the pods, NAME=VALUE; never a secret")
	return cmd
}

func submitPlan(ctx context.Context, env cli.Env, f submitFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := source.ReadPlan(f.run.plan)
	if err != nil {
		return err
	}
	s := submit.New(p, submit.Options{Store: f.store, Job: f.job, Flags: f.flags, Logs: f.run.logs})
	manifest, err := s.Manifest()
	if err != nil {
		return err
	}
	if f.print {
		out := json.NewEncoder(env.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(manifest)
	}
	at, err := f.place(ctx, env, p)
	if err != nil {
		return err
	}
	results, err := s.Run(ctx, at)
	if err != nil {
		return err
	}
	err = writeResults(env.Stdout, f.run.out, results)
	if results.Failed() {
		err = errors.Join(err, cli.ErrFailed)
	}
	return err
}

// place opens the cluster and the bucket.
func (f submitFlags) place(ctx context.Context, env cli.Env, p *plan.Plan) (at submit.Backend, err error) {
	at = submit.Backend{Notes: env.Stderr, Files: func(ctx context.Context) (submit.Files, error) { return f.files(ctx, env, p) }}
	if at.Cluster, at.Namespace, err = kube.Connect(env.Getenv); err != nil {
		return at, err
	}
	at.Bucket, _, err = source.Bucket(ctx, strings.TrimRight(f.store, "/")+"/plan.json")
	return at, err
}

// files opens what the pods need beside the plan.
func (f submitFlags) files(ctx context.Context, env cli.Env, p *plan.Plan) (out submit.Files, err error) {
	rules, err := f.run.rules(ctx, env, p)
	if err != nil {
		return out, err
	}
	if p.Config != "" {
		out.Settings = rules.Text()
	}
	open := source.In(env).With(rules)
	for _, b := range []struct {
		to   *submit.File
		flag string
		side plan.Side
	}{{&out.Base, f.run.base, p.Base}, {&out.Head, f.run.head, p.Head}} {
		b.to.Name = f.run.reference(b.flag, b.side)
		if b.to.Raw, err = open.Bytes(ctx, b.to.Name); err != nil {
			return out, err
		}
	}
	return out, nil
}

// checkRunFlags refuses flags that no pod would take, before anything is stored,
// and those that say where the parts find what they need and leave what they say.
func checkRunFlags(env cli.Env, args []string) error {
	flags := runCommand(env).Flags()
	if err := flags.Parse(args); err != nil {
		return cli.Usage(fmt.Errorf("what follows the dashes: %w (run 'runner run --help')", err))
	}
	if flags.NArg() > 0 {
		return cli.Usage(fmt.Errorf("what follows the dashes: unexpected argument %q (run 'runner run --help')", flags.Arg(0)))
	}
	for _, own := range []string{"plan", "base", "head", "config", "partition", "logs", "out", "resume"} {
		if flags.Changed(own) {
			return cli.Usage(fmt.Errorf("what follows the dashes: submit itself says --%s in each pod: leave it out", own))
		}
	}
	return nil
}

func (f submitFlags) check() error {
	switch {
	case !f.kubernetes:
		return cli.Usage(errors.New("--kubernetes is required: where to run the plan"))
	case !source.IsObject(f.store), f.store == "s3://", strings.HasPrefix(f.store, "s3:///"):
		return cli.Usage(errors.New("--store is required: s3://BUCKET/PREFIX for what the pods read and write"))
	case f.job.Image == "":
		return cli.Usage(errors.New("--image is required: the one with the runner and the integrations"))
	case f.job.Parts < 1:
		return cli.Usage(errors.New("--parts must be at least 1"))
	}
	return nil
}
