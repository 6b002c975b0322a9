package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// Tekton starts PipelineRuns as qontract-reconcile does.
type Tekton struct {
	Clusters Clusters
	Trace    bool // runs get the reason as parameters
}

// The resources of Tekton.
var (
	pipelineRuns = integration.Resource{Group: "tekton.dev", Version: "v1", Plural: "pipelineruns"}
	pipelines    = integration.Resource{Group: "tekton.dev", Version: "v1", Plural: "pipelines"}
)

// maxPipeline is the length of the longest name of a pipeline.
const maxPipeline = 56

// Pipeline returns the name of the pipeline of a saas file.
func Pipeline(template, file string) (string, error) {
	name := "o-" + template + "-" + file
	if len(name) > maxPipeline {
		return "", fmt.Errorf("Pipeline name %s is longer than %d characters", name, maxPipeline)
	}
	return name, nil
}

// Runs implements [Executor].
func (t Tekton) Runs(ctx context.Context, at Place) ([]CellRun, error) {
	return t.Clusters.runs(ctx, at, pipelineRuns, func(h head) (decide.RunPhase, string) {
		for _, c := range h.Status.Conditions {
			switch {
			case c.Type == "Succeeded" && c.Status == "True":
				return decide.Succeeded, ""
			case c.Type == "Succeeded" && c.Status == "False":
				return decide.Errored, c.why()
			}
		}
		return decide.Live, ""
	})
}

// Missing implements [Executor]: the pipeline of the saas file must be there.
func (t Tekton) Missing(ctx context.Context, o Order) (string, error) {
	name, err := Pipeline(o.Template, o.File)
	if err != nil {
		return "", err
	}
	cluster, err := t.Clusters.Reader(ctx, o.Cluster)
	if err != nil {
		return "", err
	}
	_, err = cluster.Get(ctx, integration.ObjectRef{Resource: pipelines, Namespace: o.Namespace, Name: name})
	if errors.Is(err, integration.ErrNotThere) {
		return fmt.Sprintf("Pipeline %s does not exist in %s/%s", name, o.Cluster.Name, o.Namespace), nil
	}
	return "", err
}

// Start implements [Executor].
func (t Tekton) Start(ctx context.Context, o Order) error {
	object, err := t.object(o)
	if err != nil {
		return err
	}
	return t.Clusters.create(ctx, o, pipelineRuns, object)
}

// A parameter is one of a PipelineRun.
type parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// object returns the PipelineRun of an order.
func (t Tekton) object(o Order) (map[string]any, error) {
	name, err := Pipeline(o.Template, o.File)
	if err != nil {
		return nil, err
	}
	if err := CheckTimeout(o.Timeout); err != nil {
		return nil, err
	}
	parameters := []parameter{
		{"saas_file_name", o.File}, {"env_name", o.Environment}, {"tkn_cluster_console_url", o.ConsoleURL},
		{"tkn_namespace_name", o.Namespace},
	}
	reason := ""
	if t.Trace {
		reason = o.first().Text
		parameters = append(parameters, parameter{"trigger_integration", triggers[o.first().Kind]},
			parameter{"trigger_reason", reason})
	}
	metadata, err := o.metadata(reason)
	if err != nil {
		return nil, err
	}
	spec := map[string]any{"pipelineRef": map[string]any{"name": name}, "params": parameters}
	if o.Timeout != "" {
		spec["timeouts"] = map[string]any{"pipeline": "0", "tasks": o.Timeout}
	}
	return map[string]any{"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": metadata, "spec": spec}, nil
}
