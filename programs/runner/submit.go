package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/submit"
	"github.com/app-sre/prcheck/runner/submit/jobs"
	"github.com/app-sre/prcheck/source"
)

type submitFlags struct {
	planFlags
	out, logs  string
	kubernetes bool
	print      bool
	store      string
	job        jobs.Job
	flags      []string // for runner run in each pod
}

func submitCommand(env cli.Env) *cobra.Command {
	var f submitFlags
	cmd := &cobra.Command{
		Use:   "submit --kubernetes --plan FILE --store s3://BUCKET/PREFIX --image IMAGE [flags] [-- RUN-FLAGS]",
		Short: "Run a plan in parts on Kubernetes",
		Long: `submit uploads the plan, both bundles and the settings to a bucket, creates an Indexed
Job with a pod for each part of the plan, and waits until the Job has ended. Then it
merges the results of the parts and fetches their logs. A part without results has failed.
If the plan has several run orders, each is a Job of its own, one after the other.

The cluster is the one that kubectl uses. The pods get their access to the bucket from
--env-secret. After ctrl-C the Job is removed. If submit itself was killed, the same
command with the same --name continues the Job.

The flags after two dashes are given to runner run in each pod. With --print the manifest
of the Job goes to stdout, or a List of several Jobs, and nothing else happens.`,
		Example: `  runner submit --kubernetes --plan plan.json --store s3://checks/runs --image registry.example.com/prcheck:1 \
    --parts 8 --memory 2Gi --env-secret bucket-access --out results.json -- --jobs 4 --state s3://checks/state
  runner report --plan plan.json --results results.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
				return cli.Usage(fmt.Errorf("unexpected argument %q; write flags for runner run after two dashes", args[0]))
			}
			f.flags = args
			if err := checkRunFlags(env, args); err != nil {
				return err
			}
			return submitPlan(cmd.Context(), env, f)
		},
	}
	flags, job := cmd.Flags(), &f.job
	f.register(cmd)
	flags.BoolVar(&f.kubernetes, "kubernetes", false,
		"run the plan on Kubernetes (required; nothing else is supported yet)")
	flags.StringVar(&f.store, "store", "", "s3://BUCKET/PREFIX for the files that the pods read and write (required)")
	flags.StringVar(&f.out, "out", "", "file for the results (default stdout)")
	flags.StringVar(&f.logs, "logs", "logs", "folder for the complete logs")
	flags.BoolVar(&f.print, "print", false, "print the manifest and do nothing else")
	flags.StringVar(&job.Image, "image", "", "image that contains runner and the integrations (required)")
	flags.IntVar(&job.Parts, "parts", 8, "number of parts of the plan: at most one per task and, if there are several "+
		"parts, at least one per run order")
	flags.IntVar(&job.AtOnce, "at-once", 0, "how many pods run at the same time (default all)")
	flags.IntVar(&job.Retries, "retries", 1, "how often a part is run again if its pod was lost or could not do its work")
	flags.DurationVar(&job.Deadline, "deadline", time.Hour, "how long all Jobs together may take")
	flags.DurationVar(&job.Keep, "keep", time.Hour, "how long a Job stays in the cluster after its end")
	flags.StringVar(&job.Namespace, "namespace", "", "namespace (default: the namespace that kubectl uses)")
	flags.StringVar(&job.Name, "name", "", "name of the Job; several Jobs get this name and a number (default: a "+
		"new name)")
	flags.StringVar(&job.CPU, "cpu", "", "CPU for each pod, such as 2 or 500m")
	flags.StringVar(&job.Memory, "memory", "", "memory for each pod, such as 2Gi")
	flags.StringVar(&job.ServiceAccount, "service-account", "",
		"service account of the pods (default: that of the namespace)")
	flags.StringArrayVar(&job.EnvSecrets, "env-secret", nil,
		"Secret whose keys become environment variables of the pods (repeatable)")
	flags.StringToStringVar(&job.Env, "env", nil, "environment variable of the pods, NAME=VALUE; not for secrets "+
		"(repeatable)")
	return cmd
}

func submitPlan(ctx context.Context, env cli.Env, f submitFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	err := change.CheckPaths(ctx, env, change.Paths{Read: []string{f.plan}, Files: []string{f.out},
		Folders: []string{f.logs}})
	if err != nil {
		return err
	}
	p, err := source.ReadPlan(f.plan)
	if err != nil {
		return err
	}
	s := submit.New(p, submit.Options{Store: f.store, Job: f.job, Flags: f.flags, Logs: f.logs})
	manifest, err := s.Manifest()
	if err != nil {
		return err
	}
	if f.print {
		out := json.NewEncoder(env.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(manifest)
	}
	on, err := f.backend(ctx, env, p)
	if err != nil {
		return err
	}
	results, err := s.Run(ctx, on)
	if err != nil {
		return err
	}
	return errors.Join(writeResults(env.Stdout, f.out, results), verdictError(results))
}

// backend opens the cluster and the bucket.
func (f submitFlags) backend(ctx context.Context, env cli.Env, p *plan.Plan) (at submit.Backend, err error) {
	at = submit.Backend{Notes: env.Stderr, Files: func(ctx context.Context) (submit.Files, error) {
		return f.files(ctx, env, p)
	}}
	if at.Cluster, at.Namespace, err = jobs.Connect(env.Getenv); err != nil {
		return at, err
	}
	at.Bucket, _, err = source.Bucket(ctx, strings.TrimRight(f.store, "/")+"/plan.json")
	return at, err
}

// files reads the files that the pods need beside the plan.
func (f submitFlags) files(ctx context.Context, env cli.Env, p *plan.Plan) (out submit.Files, err error) {
	rules, err := f.rules(ctx, env, p)
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
	}{{&out.Base, f.base, p.Base}, {&out.Head, f.head, p.Head}} {
		b.to.Name = f.reference(b.flag, b.side)
		if b.to.Raw, err = open.Bytes(ctx, b.to.Name); err != nil {
			return out, err
		}
	}
	return out, nil
}

// checkRunFlags checks the flags for runner run before anything is uploaded. It refuses
// unknown flags, and flags that submit itself sets in each pod.
func checkRunFlags(env cli.Env, args []string) error {
	flags := runCommand(env, nil).Flags()
	if err := flags.Parse(args); err != nil {
		return cli.Usage(fmt.Errorf("after the dashes: %w (run 'runner run --help')", err))
	}
	if flags.NArg() > 0 {
		return cli.Usage(fmt.Errorf("after the dashes: unexpected argument %q (run 'runner run --help')", flags.Arg(0)))
	}
	for _, own := range []string{"plan", "base", "head", "config", "partition", "logs", "out", "resume"} {
		if flags.Changed(own) {
			return cli.Usage(fmt.Errorf("after the dashes: submit itself sets --%s in each pod: leave it out", own))
		}
	}
	return nil
}

func (f submitFlags) check() error {
	switch {
	case !f.kubernetes:
		return cli.Usage(errors.New("--kubernetes is required: it says where the plan runs"))
	case !source.IsObject(f.store), f.store == "s3://", strings.HasPrefix(f.store, "s3:///"):
		return cli.Usage(errors.New("--store is required: s3://BUCKET/PREFIX for the files that the pods read and write"))
	case f.job.Image == "":
		return cli.Usage(errors.New("--image is required: the image that contains runner and the integrations"))
	case f.job.Parts < 1:
		return cli.Usage(errors.New("--parts must be at least 1"))
	}
	return nil
}
