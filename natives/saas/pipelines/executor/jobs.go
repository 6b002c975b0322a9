package executor

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// Jobs starts a Job for each run: reconciler run for one cell.
type Jobs struct {
	Clusters Clusters
	JobSettings
}

// JobSettings say what the Jobs run.
type JobSettings struct {
	Image          string   `yaml:"image"`           // with the program runner
	Integration    string   `yaml:"integration"`     // name of the definition; "" is saas-deploy
	Args           []string `yaml:"args"`            // more arguments, such as --bundle and --state
	ServiceAccount string   `yaml:"service_account"` // of the pods, "" for the default one
	SecretEnv      []string `yaml:"secret_env"`      // secrets whose members become variables
}

var jobs = integration.Resource{Group: "batch", Version: "v1", Plural: "jobs"}

// Runs implements [Executor].
func (j Jobs) Runs(ctx context.Context, at Place) ([]CellRun, error) {
	return j.Clusters.runs(ctx, at, jobs, func(h head) (decide.RunPhase, string) {
		for _, c := range h.Status.Conditions {
			switch {
			case c.Type == "Complete" && c.Status == "True":
				return decide.Succeeded, ""
			case c.Type == "Failed" && c.Status == "True":
				return decide.Errored, c.why()
			}
		}
		return decide.Live, ""
	})
}

// Missing implements [Executor]: a Job needs nothing.
func (j Jobs) Missing(context.Context, Order) (string, error) { return "", nil }

// Start implements [Executor].
func (j Jobs) Start(ctx context.Context, o Order) error {
	object, err := j.object(o)
	if err != nil {
		return err
	}
	return j.Clusters.create(ctx, o, jobs, object)
}

// keepJob is for how many seconds a Job is kept after its end. The loop must see its result.
const keepJob = 7 * 24 * 3600

// object returns the Job of an order.
func (j Jobs) object(o Order) (map[string]any, error) {
	if err := CheckTimeout(o.Timeout); err != nil {
		return nil, err
	}
	metadata, err := o.metadata(o.first().Text)
	if err != nil {
		return nil, err
	}
	name := j.Integration
	if name == "" {
		name = "saas-deploy"
	}
	args := []string{"reconcile", name, "--shard", o.File + "/" + o.Environment, "--no-dry-run"}
	container := map[string]any{"name": "deploy", "image": j.Image, "command": []string{"runner"},
		"args": append(args, j.Args...)}
	var from []any
	for _, secret := range j.SecretEnv {
		from = append(from, map[string]any{"secretRef": map[string]any{"name": secret}})
	}
	if len(from) > 0 {
		container["envFrom"] = from
	}
	pod := map[string]any{"restartPolicy": "Never", "containers": []any{container}}
	if j.ServiceAccount != "" {
		pod["serviceAccountName"] = j.ServiceAccount
	}
	spec := map[string]any{
		"backoffLimit": 0, "ttlSecondsAfterFinished": keepJob,
		"template": map[string]any{"metadata": map[string]any{"labels": metadata["labels"]}, "spec": pod},
	}
	if d, err := saas.ParseTimeout(o.Timeout); err == nil {
		spec["activeDeadlineSeconds"] = int(d.Seconds())
	}
	return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}, nil
}
