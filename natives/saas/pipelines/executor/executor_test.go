package executor

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
)

// A pipelineRunCase is a case of the area pipelinerun.
type pipelineRunCase struct {
	Input struct {
		File        string `json:"saas_file_name"`
		Env         string `json:"env_name"`
		Template    string `json:"pipeline_template"`
		Timeout     string
		ConsoleURL  string `json:"console_url"`
		Namespace   string
		Integration string
		Trace       bool
		Reason      string
		TargetRef   string `json:"target_ref"`
	}
	Expected struct {
		DedupName        string `json:"dedup_name"`
		Manifest         map[string]any
		NamePrefix       string  `json:"name_prefix"`
		Parameters       int     `json:"n_params"`
		AnnotationReason *string `json:"annotation_reason"`
		HasTimeouts      *bool   `json:"has_timeouts"`
		Error            string
	}
}

// order returns the order of a case. The kind of the reason follows from the integration that
// starts the run today.
func (c pipelineRunCase) order() Order {
	kind := decide.Config
	for k, name := range triggers {
		if name == c.Input.Integration && k != decide.Promotion {
			kind = k
		}
	}
	id := "0123456789abcdef0123456789abcdef"
	it := &decide.Intent{ID: id, Run: ledger.RunName(c.Input.File+"/"+c.Input.Env, id),
		Reasons: []decide.Reason{{Kind: kind, Text: c.Input.Reason, Ref: c.Input.TargetRef}}}
	return Order{
		Place: Place{Namespace: c.Input.Namespace}, File: c.Input.File, Environment: c.Input.Env, Template: c.Input.Template,
		ConsoleURL: c.Input.ConsoleURL, Timeout: c.Input.Timeout, Intent: it,
	}
}

func TestPipelineRunCases(t *testing.T) {
	shared.Each(t, "pipelinerun", func(t *testing.T, c pipelineRunCase) {
		o := c.order()
		made, err := Tekton{Trace: c.Input.Trace}.object(o)
		if c.Expected.Error != "" {
			if err == nil || !strings.Contains(err.Error(), c.Expected.Error) {
				t.Fatalf("got %v, want %s", err, c.Expected.Error)
			}
			return
		}
		if c.Expected.NamePrefix != "" {
			if want := c.Expected.NamePrefix + "0123456"; o.Intent.Run != want {
				t.Errorf("name %s, want %s", o.Intent.Run, want)
			}
		}
		if want := c.Expected.DedupName; want != "" && strings.ToLower(c.Input.File+"-"+c.Input.Env) != want {
			t.Errorf("the cell is %s, want %s", c.Input.File+"-"+c.Input.Env, want)
		}
		if len(c.Expected.Manifest)+c.Expected.Parameters == 0 {
			return // only the name
		}
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, plain(t, made))
	})
}

// plain returns a value as JSON has it.
func plain(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// check compares a PipelineRun with what a case expects.
func (c pipelineRunCase) check(t *testing.T, got map[string]any) {
	t.Helper()
	spec, metadata := got["spec"].(map[string]any), got["metadata"].(map[string]any)
	annotations, labels := metadata["annotations"].(map[string]any), metadata["labels"].(map[string]any)
	if n := c.Expected.Parameters; n > 0 && len(spec["params"].([]any)) != n {
		t.Errorf("parameters %v, want %d", spec["params"], n)
	}
	if want := c.Expected.AnnotationReason; want != nil && annotations[annotationReason] != *want {
		t.Errorf("annotations %v, want the reason %q", annotations, *want)
	}
	if want := c.Expected.HasTimeouts; want != nil && (spec["timeouts"] != nil) != *want {
		t.Errorf("timeouts %v, want %v", spec["timeouts"], *want)
	}
	if c.Expected.Manifest == nil {
		return
	}
	if labels[labelIntent] == "" || annotations[annotationReasons] == "" {
		t.Errorf("labels %v, annotations %v: want the intent and all reasons", labels, annotations)
	}
	// These are ours, beside what a case lists.
	delete(labels, labelIntent)
	delete(annotations, annotationReasons)
	delete(metadata, "name")
	delete(metadata, "namespace")
	if !reflect.DeepEqual(got, c.Expected.Manifest) {
		t.Errorf("got  %v\nwant %v", got, c.Expected.Manifest)
	}
}

func TestJob(t *testing.T) {
	o := pipelineRunCase{}.order()
	o.File, o.Environment, o.Timeout = "shop", "stage", "90m"
	made, err := Jobs{JobSettings: JobSettings{Image: "quay.io/acme/prcheck:1", Args: []string{"--state", "s3://b/p"},
		SecretEnv: []string{"s"}}}.object(o)
	if err != nil {
		t.Fatal(err)
	}
	spec := plain(t, made)["spec"].(map[string]any)
	container := spec["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	want := []any{"reconcile", "saas-deploy", "--shard", "shop/stage", "--no-dry-run", "--state", "s3://b/p"}
	if !slices.Equal(container["args"].([]any), want) {
		t.Errorf("args %v, want %v", container["args"], want)
	}
	if spec["backoffLimit"] != 0.0 || spec["activeDeadlineSeconds"] != 5400.0 || container["envFrom"] == nil {
		t.Errorf("spec %v, want one attempt, 90 minutes and the secret", spec)
	}
}

func TestTimeout(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "60m": true, "1h30m": true, "59m": false, "soon": false,
		"-2h": false} {
		if err := CheckTimeout(text); (err == nil) != ok {
			t.Errorf("timeout %q: %v", text, err)
		}
	}
}
