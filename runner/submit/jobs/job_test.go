package jobs

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// whole is a Job that says all there is to say.
func whole() Job {
	return Job{
		Name: "prcheck-0123456789ab", Namespace: "checks", Image: "registry.example/runner:1",
		Command: []string{"runner", "run", "--plan", "s3://bucket/run/plan.json", "--partition", "auto", "--out",
			"s3://bucket/run/results-$(JOB_COMPLETION_INDEX).json"},
		Parts: 8, AtOnce: 3, Retries: 1, Deadline: time.Hour, Keep: 2 * time.Hour, CPU: "500m", Memory: "2Gi",
		Env: map[string]string{"PRCHECK_PARTS": "8", "AWS_REGION": "eu-west-1"}, EnvSecrets: []string{"bucket.access"},
		ServiceAccount: "runner", Labels: map[string]string{"prcheck/plan": "0123456789ab"},
	}
}

func TestManifest(t *testing.T) {
	job, err := whole().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(job, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "job.json.golden")
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("the manifest is\n%s\nwant\n%s", got, want)
	}
}

// What is not said is left to the cluster.
func TestManifestOfLittle(t *testing.T) {
	job, err := Job{Name: "a", Namespace: "b", Image: "c", Command: []string{"d"}, Parts: 2}.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	if job.Spec.Parallelism != 2 || job.Spec.ActiveDeadlineSeconds != nil || job.Spec.BackoffLimitPerIndex != 0 ||
		pod.Containers[0].Resources.Requests != nil || len(pod.Containers[0].Args) != 0 || pod.ServiceAccountName != "" {
		t.Errorf("got %+v", job.Spec)
	}
}

func TestManifestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Job)
		want   string
	}{
		"name":        {func(j *Job) { j.Name = "Up_per" }, `"Up_per" is no name for a Job`},
		"long name":   {func(j *Job) { j.Name = strings.Repeat("a", 64) }, "no name for a Job"},
		"namespace":   {func(j *Job) { j.Namespace = "" }, `"" is no namespace`},
		"image":       {func(j *Job) { j.Image = "" }, "has no image"},
		"command":     {func(j *Job) { j.Command = nil }, "has no command"},
		"no parts":    {func(j *Job) { j.Parts = 0 }, "must have 1 to 10000"},
		"many parts":  {func(j *Job) { j.Parts = 10_001 }, "must have 1 to 10000"},
		"at once":     {func(j *Job) { j.AtOnce = -1 }, "cannot run at once"},
		"retries":     {func(j *Job) { j.Retries = 11 }, "must be 0 to 10"},
		"deadline":    {func(j *Job) { j.Deadline = -time.Second }, "between 0 and a year"},
		"cpu":         {func(j *Job) { j.CPU = "much" }, `"much" is no amount of cpu`},
		"memory":      {func(j *Job) { j.Memory = "-1Gi" }, `"-1Gi" is no amount of memory`},
		"variable":    {func(j *Job) { j.Env = map[string]string{"A=B": "c"} }, `"A=B" is no name of a variable`},
		"secret":      {func(j *Job) { j.EnvSecrets = []string{"../x"} }, `"../x" is no name of a Secret`},
		"label":       {func(j *Job) { j.Labels = map[string]string{"a b": "c"} }, `the label "a b"="c"`},
		"label value": {func(j *Job) { j.Labels = map[string]string{"a": "sha256:x"} }, `the label "a"="sha256:x"`},
	} {
		j := whole()
		c.change(&j)
		if _, err := j.Manifest(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// Kubernetes' own types have every field of the manifest, and write the same JSON.
func TestManifestIsOfKubernetes(t *testing.T) {
	for name, j := range map[string]Job{"whole": whole(), "little": {Name: "a", Namespace: "b", Image: "c",
		Command: []string{"d"}, Parts: 2}} {
		want, err := json.Marshal(manifest(t, j))
		if err != nil {
			t.Fatal(err)
		}
		in := json.NewDecoder(bytes.NewReader(want))
		in.DisallowUnknownFields()
		var job batch.Job
		if err := in.Decode(&job); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(job); err != nil || string(got) != string(want) {
			t.Errorf("%s: Kubernetes writes\n%s\nand we write\n%s, %v", name, got, want, err)
		}
	}
}
