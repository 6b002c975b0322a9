package kube

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// MaxParts is how many parts a Job may have. Kubernetes takes 100,000 indexes,
// and 10,000 of them when single ones may fail for good.
const MaxParts = 10_000

// Container is the name of the one container of each pod.
const Container = "runner"

// A Job says how the parts of a plan become pods. Name, Namespace, Image,
// Command and Parts are required.
type Job struct {
	Name           string // at most 63 characters, a DNS label; two Jobs of one name are the same work
	Namespace      string
	Image          string
	Command        []string // of every part; $(JOB_COMPLETION_INDEX) is its number, from 0
	Parts          int
	AtOnce         int               // pods that run at the same time; 0 means all
	Retries        int               // of one part, when its pod was lost or could not do its work
	Deadline       time.Duration     // of the whole Job; 0 means none
	Keep           time.Duration     // how long the ended Job stays to be looked at
	CPU, Memory    string            // of each pod, as Kubernetes writes quantities; "" leaves it to the cluster
	Env            map[string]string // plain variables of every part; never a secret
	EnvSecrets     []string          // names of Secrets whose keys become variables
	ServiceAccount string            // "" means the namespace's own
	Labels         map[string]string // besides those that say whose it is
}

// ownLabels say on every object whose it is.
var ownLabels = map[string]string{"app.kubernetes.io/name": "prcheck", "app.kubernetes.io/component": "runner", "app.kubernetes.io/managed-by": "prcheck"}

// Manifest returns the Job as Kubernetes takes it. The error names what of the
// Job is wrong.
func (j Job) Manifest() (*batch.Job, error) {
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
	parts, atOnce := int32(j.Parts), int32(j.AtOnce) // #nosec G115 -- check holds both below MaxParts
	if atOnce == 0 {
		atOnce = parts
	}
	out := &batch.Job{
		TypeMeta:   meta.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: meta.ObjectMeta{Name: j.Name, Namespace: j.Namespace, Labels: labels},
		Spec: batch.JobSpec{
			CompletionMode:          new(batch.IndexedCompletion),
			Completions:             &parts,
			Parallelism:             &atOnce,
			BackoffLimitPerIndex:    new(int32(j.Retries)), // #nosec G115 -- check holds it low
			PodFailurePolicy:        failurePolicy(),
			PodReplacementPolicy:    new(batch.Failed),
			TTLSecondsAfterFinished: new(int32(j.Keep / time.Second)), // #nosec G115 -- check holds it low
			Template:                core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels}, Spec: j.pod(resources)},
		},
	}
	if j.Deadline > 0 {
		out.Spec.ActiveDeadlineSeconds = new(int64(j.Deadline / time.Second))
	}
	return out, nil
}

// failurePolicy says what the exit codes of the runner mean. Of several rules
// the first that fits holds; what none fits counts as a try.
func failurePolicy() *batch.PodFailurePolicy {
	exit := func(action batch.PodFailurePolicyAction, code int32) batch.PodFailurePolicyRule {
		return batch.PodFailurePolicyRule{Action: action, OnExitCodes: &batch.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: new(Container), Operator: batch.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}}}
	}
	return &batch.PodFailurePolicy{Rules: []batch.PodFailurePolicyRule{
		{Action: batch.PodFailurePolicyActionIgnore, OnPodConditions: []batch.PodFailurePolicyOnPodConditionsPattern{
			{Type: core.DisruptionTarget, Status: core.ConditionTrue}}},
		exit(batch.PodFailurePolicyActionFailIndex, 1),
		exit(batch.PodFailurePolicyActionFailJob, 2),
	}}
}

// pod is what every part runs in: nobody's root, with nothing to write to but
// folders of its own, and without access to the cluster.
func (j Job) pod(resources core.ResourceRequirements) core.PodSpec {
	container := core.Container{
		Name: Container, Image: j.Image, Command: j.Command[:1], Args: j.Command[1:], WorkingDir: "/work",
		Resources: resources,
		SecurityContext: &core.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &core.Capabilities{Drop: []core.Capability{"ALL"}},
		},
		TerminationMessagePolicy: core.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []core.VolumeMount{{Name: "work", MountPath: "/work"}, {Name: "tmp", MountPath: "/tmp"}},
	}
	for _, name := range slices.Sorted(maps.Keys(j.Env)) {
		container.Env = append(container.Env, core.EnvVar{Name: name, Value: j.Env[name]})
	}
	for _, name := range j.EnvSecrets {
		container.EnvFrom = append(container.EnvFrom, core.EnvFromSource{
			SecretRef: &core.SecretEnvSource{LocalObjectReference: core.LocalObjectReference{Name: name}}})
	}
	folder := func(name string) core.Volume {
		return core.Volume{Name: name, VolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{}}}
	}
	return core.PodSpec{
		RestartPolicy:                core.RestartPolicyNever,
		ServiceAccountName:           j.ServiceAccount,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		SecurityContext: &core.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &core.SeccompProfile{Type: core.SeccompProfileTypeRuntimeDefault}},
		Containers: []core.Container{container},
		Volumes:    []core.Volume{folder("work"), folder("tmp")},
	}
}

// resources are what a pod is given: what it asks for, and of memory no more.
func (j Job) resources() (core.ResourceRequirements, error) {
	out := core.ResourceRequirements{}
	for name, text := range map[core.ResourceName]string{core.ResourceCPU: j.CPU, core.ResourceMemory: j.Memory} {
		if text == "" {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() <= 0 {
			return out, fmt.Errorf("%q is no amount of %s, such as 500m or 2Gi", text, name)
		}
		if out.Requests == nil {
			out.Requests = core.ResourceList{}
		}
		out.Requests[name] = q
		if name == core.ResourceMemory {
			out.Limits = core.ResourceList{name: q}
		}
	}
	return out, nil
}

// variable is what the name of a variable looks like.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check holds what the cluster would refuse, or take for something else.
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
