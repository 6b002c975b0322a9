package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// MaxParts is the largest number of parts of a Job. Kubernetes has this limit for
// Jobs that limit the retries of each index.
const MaxParts = 10_000

// containerName is the name of the only container of each pod.
const containerName = "runner"

// A Job describes how the parts of a plan become pods. Name, Namespace, Image,
// Command and Parts are required.
type Job struct {
	Name      string // a DNS label, at most 63 characters
	Namespace string
	Image     string
	// the command of every part; in it $(JOB_COMPLETION_INDEX) stands for the index of the part, from 0
	Command        []string
	Parts          int
	AtOnce         int               // the number of pods that run at the same time; 0 means all
	Retries        int               // how often a part is retried after exit code 3, or when its pod was lost
	Deadline       time.Duration     // how long the whole Job may take; 0 means no limit
	Keep           time.Duration     // how long the cluster keeps the Job after its end
	CPU, Memory    string            // quantities for each pod, such as 500m and 2Gi; "" means the default of the cluster
	Env            map[string]string // environment variables of every part; never secrets
	EnvSecrets     []string          // names of Secrets whose keys become environment variables
	ServiceAccount string            // "" means the default account of the namespace
	Labels         map[string]string // labels beside ownLabels
}

// ownLabels mark every Job and pod as one of prcheck.
var ownLabels = map[string]string{"app.kubernetes.io/name": "prcheck", "app.kubernetes.io/component": "runner",
	"app.kubernetes.io/managed-by": "prcheck"}

// Manifest returns the Job in the form that Kubernetes takes. The error names the
// field that is wrong.
func (j Job) Manifest() (*Manifest, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	resources, err := j.resources()
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(j.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, ownLabels)
	out := &Manifest{
		APIVersion: "batch/v1", Kind: "Job",
		Metadata: Metadata{Name: j.Name, Namespace: j.Namespace, Labels: labels},
		Spec: JobSpec{
			CompletionMode:          "Indexed",
			Completions:             j.Parts,
			Parallelism:             cmp.Or(j.AtOnce, j.Parts),
			BackoffLimitPerIndex:    j.Retries,
			PodFailurePolicy:        runnerFailurePolicy(),
			PodReplacementPolicy:    "Failed",
			TTLSecondsAfterFinished: int64(j.Keep / time.Second),
			Template:                PodTemplate{Metadata: Metadata{Labels: labels}, Spec: j.pod(resources)},
		},
	}
	if j.Deadline > 0 {
		out.Spec.ActiveDeadlineSeconds = new(int64(j.Deadline / time.Second))
	}
	return out, nil
}

// runnerFailurePolicy says what the exit codes of the runner mean. The first rule
// that matches applies; a failure that matches no rule counts as a retry.
func runnerFailurePolicy() failurePolicy {
	exit := func(action string, code int) failureRule {
		return failureRule{Action: action, OnExitCodes: &onExitCodes{ContainerName: containerName, Operator: "In",
			Values: []int{code}}}
	}
	return failurePolicy{Rules: []failureRule{
		{Action: "Ignore", OnPodConditions: []podConditionMatch{{Type: "DisruptionTarget", Status: "True"}}},
		exit("FailIndex", 1),
		exit("FailJob", 2),
	}}
}

// pod returns the pod of every part. It does not run as root, can write only to
// its own folders /work and /tmp, and has no access to the cluster.
func (j Job) pod(resources resources) PodSpec {
	container := Container{
		Name: containerName, Image: j.Image, Command: j.Command[:1], Args: j.Command[1:], WorkingDir: "/work",
		Resources: resources,
		SecurityContext: containerSecurityContext{
			AllowPrivilegeEscalation: false, ReadOnlyRootFilesystem: true, Capabilities: capabilities{Drop: []string{"ALL"}},
		},
		TerminationMessagePolicy: "FallbackToLogsOnError",
		VolumeMounts:             []volumeMount{{Name: "work", MountPath: "/work"}, {Name: "tmp", MountPath: "/tmp"}},
	}
	for _, name := range slices.Sorted(maps.Keys(j.Env)) {
		container.Env = append(container.Env, envVar{Name: name, Value: j.Env[name]})
	}
	for _, name := range j.EnvSecrets {
		container.EnvFrom = append(container.EnvFrom, envFrom{SecretRef: &secretRef{Name: name}})
	}
	return PodSpec{
		RestartPolicy:                "Never",
		ServiceAccountName:           j.ServiceAccount,
		AutomountServiceAccountToken: false,
		EnableServiceLinks:           false,
		SecurityContext: podSecurityContext{RunAsNonRoot: true,
			SeccompProfile: seccompProfile{Type: "RuntimeDefault"}},
		Containers: []Container{container},
		Volumes:    []volume{{Name: "work"}, {Name: "tmp"}},
	}
}

// resources returns the requests and limits of each pod. Memory has both; the
// CPU has no limit.
func (j Job) resources() (resources, error) {
	out := resources{}
	for name, text := range map[string]string{"cpu": j.CPU, "memory": j.Memory} {
		if text == "" {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() <= 0 {
			return out, fmt.Errorf("%q is no amount of %s, such as 500m or 2Gi", text, name)
		}
		if out.Requests == nil {
			out.Requests = map[string]string{}
		}
		out.Requests[name] = q.String()
		if name == "memory" {
			out.Limits = map[string]string{name: q.String()}
		}
	}
	return out, nil
}

// variable matches the name of an environment variable.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check returns an error for a field that the cluster would refuse or would
// misunderstand.
func (j Job) check() error {
	const year = 365 * 24 * time.Hour
	if wrong := validation.IsDNS1123Label(j.Name); len(wrong) > 0 {
		return fmt.Errorf("%q is no name for a Job: %s", j.Name, wrong[0])
	}
	if wrong := validation.IsDNS1123Label(j.Namespace); len(wrong) > 0 {
		return fmt.Errorf("%q is no namespace: %s", j.Namespace, wrong[0])
	}
	for _, name := range j.EnvSecrets {
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			return fmt.Errorf("%q is no name of a Secret: %s", name, wrong[0])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(j.Labels)) {
		if wrong := append(validation.IsQualifiedName(k), validation.IsValidLabelValue(j.Labels[k])...); len(wrong) > 0 {
			return fmt.Errorf("the label %q=%q of the Job: %s", k, j.Labels[k], wrong[0])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(j.Env)) {
		if !variable.MatchString(k) {
			return fmt.Errorf("%q is no name of a variable", k)
		}
	}
	switch {
	case j.Image == "":
		return fmt.Errorf("the Job has no image: name the one that holds the runner and the integrations")
	case len(j.Command) == 0:
		return fmt.Errorf("the Job has no command")
	case j.Parts < 1 || j.Parts > MaxParts:
		return fmt.Errorf("the Job has %d parts; it must have 1 to %d", j.Parts, MaxParts)
	case j.AtOnce < 0 || j.AtOnce > MaxParts:
		return fmt.Errorf("%d pods cannot run at once; it must be 0 (all) to %d", j.AtOnce, MaxParts)
	case j.Retries < 0 || j.Retries > 10:
		return fmt.Errorf("%d retries of a part; it must be 0 to 10", j.Retries)
	case j.Deadline < 0 || j.Deadline > year || j.Keep < 0 || j.Keep > year:
		return fmt.Errorf("the deadline and the time to keep the Job must be between 0 and a year")
	}
	return nil
}
