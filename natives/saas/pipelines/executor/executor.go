package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
)

// An Executor runs the deployments of cells.
type Executor interface {
	// Runs returns all runs of cells at a place, with one request.
	Runs(ctx context.Context, at Place) ([]CellRun, error)
	// Missing says what must be there before a run of the order can start and is not, "" if
	// nothing is missing.
	Missing(ctx context.Context, o Order) (string, error)
	// Start makes the run of an order. It is a success if the run is there already.
	Start(ctx context.Context, o Order) error
}

// A Place is where runs are.
type Place struct {
	Cluster   integration.ClusterRef `json:"cluster"`
	Namespace string                 `json:"namespace"`
}

// An Order says what is to run.
type Order struct {
	Place
	File, Environment string // names
	Template          string // of the pipeline
	ConsoleURL        string // of the cluster with the runs
	Timeout           string // of the saas file, "" for none
	Intent            *decide.Intent
}

// A CellRun is a run of a cell.
type CellRun struct {
	decide.Run
	File, Environment string
}

// Clusters open clusters. A dry run has readers alone.
type Clusters struct {
	Reader func(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error)
	Writer func(ctx context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) // nil in a dry run
}

// The labels of runs.
const (
	labelFile        = "qontract.saas_file_name"
	labelEnvironment = "qontract.env_name"
	labelRef         = "qontract.target_ref"
	labelIntent      = "qontract.intent"
)

// The annotations of runs.
const (
	annotationIntegration = "qontract.trigger_integration"
	annotationReason      = "qontract.trigger_reason"
	annotationReasons     = "qontract.trigger_reasons" // all of them, as JSON
)

// ErrTaken says that the name of a run belongs to the run of another intent.
var ErrTaken = errors.New("another run has this name")

// triggers are the integrations that start runs in qontract-reconcile, by the kind of the reason.
// The deploying step reads the name.
var triggers = map[decide.Kind]string{
	decide.Image:     "openshift-saas-deploy-trigger-images",
	decide.Upstream:  "openshift-saas-deploy-trigger-upstream-jobs",
	decide.Commit:    "openshift-saas-deploy-trigger-moving-commits",
	decide.Promotion: "openshift-saas-deploy-trigger-configs",
	decide.Config:    "openshift-saas-deploy-trigger-configs",
}

// first returns the reason that readers of the old parameters see.
func (o Order) first() decide.Reason {
	if o.Intent == nil || len(o.Intent.Reasons) == 0 {
		return decide.Reason{Kind: decide.Config}
	}
	return o.Intent.Reasons[0]
}

// minTimeout is the shortest timeout of a pipeline.
const minTimeout = time.Hour

// CheckTimeout returns what is wrong with the timeout of a saas file, such as 90m or 1h30m.
func CheckTimeout(text string) error {
	if text == "" {
		return nil
	}
	d, err := saas.ParseTimeout(text)
	switch {
	case err != nil:
		return fmt.Errorf("timeout: %w", err)
	case d < minTimeout:
		return fmt.Errorf("timeout %s is smaller than 60 minutes", text)
	}
	return nil
}

// create makes the object of a run, or finds that it is there.
func (c Clusters) create(ctx context.Context, o Order, of integration.Resource, object any) error {
	if c.Writer == nil {
		return errors.New("a dry run starts nothing")
	}
	cluster, err := c.Writer(ctx, o.Cluster)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	ref := integration.ObjectRef{Resource: of, Namespace: o.Namespace, Name: o.Intent.Run}
	_, err = cluster.Create(ctx, ref, raw)
	if !errors.Is(err, integration.ErrChanged) {
		return err
	}
	there, err := cluster.Get(ctx, ref)
	if err != nil {
		return err
	}
	if r, err := parse(there); err != nil || r.Intent != o.Intent.ID {
		return fmt.Errorf("%w: %s", ErrTaken, o.Intent.Run)
	}
	return nil
}

// runs lists the objects of runs.
func (c Clusters) runs(ctx context.Context, at Place, of integration.Resource,
	phase func(head) (decide.RunPhase, string)) ([]CellRun, error) {
	cluster, err := c.Reader(ctx, at.Cluster)
	if err != nil {
		return nil, err
	}
	list, err := cluster.List(ctx, of, at.Namespace, labelFile)
	if err != nil {
		return nil, err
	}
	var out []CellRun
	for _, raw := range list {
		var h head
		if err := json.Unmarshal(raw, &h); err != nil {
			return nil, fmt.Errorf("reading a run: %w", err)
		}
		r := h.run()
		r.Phase, r.Why = phase(h)
		out = append(out, r)
	}
	return out, nil
}

// A head is what is read of the object of a run.
type head struct {
	Metadata struct {
		Name    string            `json:"name"`
		Labels  map[string]string `json:"labels"`
		Created time.Time         `json:"creationTimestamp"`
	} `json:"metadata"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// parse reads the object of a run.
func parse(raw json.RawMessage) (CellRun, error) {
	var h head
	err := json.Unmarshal(raw, &h)
	return h.run(), err
}

// run returns the run without its phase.
func (h head) run() CellRun {
	labels := h.Metadata.Labels
	return CellRun{
		Run:  decide.Run{Name: h.Metadata.Name, Intent: labels[labelIntent], Created: h.Metadata.Created},
		File: labels[labelFile], Environment: labels[labelEnvironment],
	}
}

// maxWhy is the length of the longest text about a failed run, in bytes.
const maxWhy = 300

// why returns why a run failed.
func (c condition) why() string {
	text := c.Reason
	if c.Message != "" {
		text += ": " + c.Message
	}
	return phrase.Cut(text, maxWhy)
}

// metadata returns the metadata of a run.
func (o Order) metadata(reason string) (map[string]any, error) {
	reasons, err := o.reasons()
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"name": o.Intent.Run, "namespace": o.Namespace,
		"labels": map[string]string{
			labelFile: o.File, labelEnvironment: o.Environment, labelRef: o.first().Ref, labelIntent: o.Intent.ID,
		},
		"annotations": map[string]string{
			annotationIntegration: triggers[o.first().Kind], annotationReason: reason, annotationReasons: reasons,
		},
	}, nil
}

// maxReasons is the size of the reasons of a run in bytes: all annotations of an object may have
// 256 KiB.
const maxReasons = 128 << 10

// reasons returns the reasons of a run as JSON. If there are too many, only the first ones are
// there; the state has all.
func (o Order) reasons() (string, error) {
	for list := o.Intent.Reasons; ; list = list[:len(list)/2] {
		raw, err := json.Marshal(list)
		if err != nil || len(raw) <= maxReasons || len(list) == 0 {
			return string(raw), err
		}
	}
}
