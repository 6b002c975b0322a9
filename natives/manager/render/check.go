package render

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/template"
)

// checkSpec checks what the spec says, with the values of parameters.
func (r *renderer) checkSpec() {
	spec := r.of.Spec
	if !usableName.MatchString(r.of.Name) {
		r.mistake("", "%.80q cannot be deployed; the name of an integration has letters, digits, '-' and '_' only", r.of.Name)
	}
	r.checkExtraEnv()
	r.checkSleep()
	r.checkParameters(spec.Resources, "/spec/resources", "")
	if spec.Cron != "" {
		r.checkSchedule()
		return
	}
	r.checkParameters(spec.FluentdResources, "/spec/fluentdResources", "FLUENTD_")
	if text := r.fill(spec.Storage); text != "" && !isLate(text) {
		r.check("/spec/storage", manifests.CheckQuantity(text))
	}
	for _, shard := range r.of.Shards {
		if shard.Resources == nil {
			continue
		}
		for _, q := range shard.Resources.quantities() {
			r.checkQuantity(overridePointer(shard)+"/resources/"+q.group+"/"+q.resource, q.value)
		}
	}
}

// fill returns a text with the values of parameters.
func (r *renderer) fill(text string) string {
	value, _ := template.Fill(text, r.values)
	return textOf(value)
}

func (r *renderer) check(pointer string, err error) {
	if err != nil {
		r.mistake(pointer, "%v", err)
	}
}

func (r *renderer) checkQuantity(pointer, text string) {
	if text = r.fill(text); !isLate(text) {
		r.check(pointer, manifests.CheckQuantity(text))
	}
}

// checkParameters checks the quantities of resources, which are defaults of parameters.
func (r *renderer) checkParameters(of *Resources, pointer, infix string) {
	if of == nil {
		return
	}
	for _, q := range of.quantities() {
		name := parameterPrefix(r.of.Name) + infix + q.parameter
		text := r.values[name]
		if err := manifests.CheckQuantity(text); err == nil || isLate(text) {
			continue
		} else if text != q.value {
			r.mistake("/namespace", "the parameter %s of the environment: %v", name, err)
		} else {
			r.mistake(pointer+"/"+q.group+"/"+q.resource, "%v", err)
		}
	}
}

// checkSleep checks the number of seconds that the integration sleeps between runs.
func (r *renderer) checkSleep() {
	if r.of.Spec.Cron != "" {
		return
	}
	text := r.fill(r.sleepDuration())
	if _, err := strconv.ParseUint(text, 10, 31); err == nil || isLate(text) {
		return
	}
	pointer := "/namespace"
	if text == r.of.Spec.SleepDurationSecs {
		pointer = "/spec/sleepDurationSecs"
	}
	r.mistake(pointer, "%.40q is no number of seconds to sleep", text)
}

// The words that Kubernetes knows.
var (
	concurrencyPolicies = []string{"", "Allow", "Forbid", "Replace"}
	restartPolicies     = []string{"", "OnFailure", "Never", "Always"}
)

func (r *renderer) checkSchedule() {
	spec := r.of.Spec
	if text := r.fill(spec.Cron); !isLate(text) {
		r.check("/spec/cron", manifests.CheckSchedule(text))
	}
	if !slices.Contains(concurrencyPolicies, spec.ConcurrencyPolicy) {
		r.mistake("/spec/concurrencyPolicy", "%.40q is not one of %s", spec.ConcurrencyPolicy,
			strings.Join(concurrencyPolicies[1:], ", "))
	}
	if !slices.Contains(restartPolicies, spec.RestartPolicy) {
		r.mistake("/spec/restartPolicy", "%.40q is not one of %s", spec.RestartPolicy,
			strings.Join(restartPolicies[1:3], ", "))
	}
	if spec.RestartPolicy == "Always" {
		r.warn("/spec/restartPolicy", "Kubernetes refuses Always for schedules; use OnFailure or Never")
	}
	r.checkLimit("/spec/successfulJobHistoryLimit", spec.SuccessfulJobHistoryLimit)
	r.checkLimit("/spec/failedJobHistoryLimit", spec.FailedJobHistoryLimit)
}

func (r *renderer) checkLimit(pointer string, limit *int) {
	if limit != nil && *limit < 0 {
		r.mistake(pointer, "%d is no limit; it must be 0 or more", *limit)
	}
}

// checkObject checks what only the finished object shows.
func (r *renderer) checkObject(shard Shard, object manifests.Object) {
	for _, c := range containers(object) {
		if image := textOf(c["image"]); !isLate(image) {
			r.checkImageOf(shard, textOf(c["name"]), image)
		}
		variables, _ := c["env"].(list)
		for _, v := range variables {
			v, _ := v.(fields)
			if value, ok := v["value"]; ok && value != nil && textOf(value) == "" && value != "" {
				r.mistake("/spec", "the value of the variable %.80s is no text", nameOf(v))
			}
		}
	}
}

// checkImageOf checks the image of a container.
func (r *renderer) checkImageOf(shard Shard, container, image string) {
	if r.goodImages[image] {
		return
	}
	err := checkImage(image)
	if err == nil {
		r.goodImages[image] = true
		return
	}
	pointer := "/namespace"
	if _, ref := r.imageRef(shard); ref != "" && container == "int" {
		pointer = ref
	}
	r.mistake(pointer, "container %s: %v", container, err)
}

// containerQuantities returns the quantities of a container with their paths, sorted.
func containerQuantities(container fields) iter.Seq2[string, string] {
	resources, _ := container["resources"].(fields)
	return func(yield func(string, string) bool) {
		for _, group := range []string{"limits", "requests"} {
			of, _ := resources[group].(fields)
			for _, name := range sortedKeys(of) {
				if text, ok := of[name].(string); ok && !yield(group+"/"+name, text) {
					return
				}
			}
		}
	}
}

// sortedKeys returns the keys of a map in their order.
func sortedKeys(of fields) []string { return slices.Sorted(maps.Keys(of)) }
