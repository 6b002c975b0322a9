package render

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/template"
)

// An Integration is what an entry of managed says about an integration.
type Integration struct {
	Name   string
	Spec   Spec
	Shards []Shard // at least one
}

// A Spec is the spec of an entry of managed. What is not said is nil or the zero value.
type Spec struct {
	Cache, DisableUnleash, EnvironmentAware, InternalCertificates, State, Trigger bool
	Command, ExtraArgs, ImageRef, SleepDurationSecs, Storage, StorageClassName    string
	ExtraEnv                                                                      []Variable
	Logs                                                                          Logs
	Resources, FluentdResources                                                   *Resources

	// Of schedules alone.
	Cron, ConcurrencyPolicy, RestartPolicy           string
	SuccessfulJobHistoryLimit, FailedJobHistoryLimit *int
	Dashdotdb, EnablePushgateway                     bool
	UnleashConnectionPool                            bool
}

// A Variable is an entry of extraEnv: a value, or a key of a secret.
type Variable struct{ Name, Value, SecretName, SecretKey string }

// Logs say where the log of an integration goes.
type Logs struct{ Slack, GoogleChat, SlackErrorFilter, GovSlack bool }

// Resources are quantities as texts; "" is none.
type Resources struct{ Requests, Limits struct{ CPU, Memory string } }

// A Shard is one process.
type Shard struct {
	Shards, ID, Key, Suffix, ExtraArgs string // as sharding.Spec has them
	ImageRef                           string // of the override
	Resources                          *Resources
	Disabled                           bool
	Override                           string // pointer to the override below the entry; "" if there is none
}

// Options say how objects are rendered.
type Options struct {
	Parity   bool           // exactly as the chart of qontract-reconcile does
	GovSlack bool           // logs go to the Slack of the government as well
	Pod      *PodTemplate   // replaces our own template of pods; nil is our own
	Self     string         // name of the integration that renders; "" is integrations-manager
	Process  *NativeProcess // the integration is a native of prcheck; nil if it is none
}

// A NativeProcess says how a native integration of prcheck is started.
type NativeProcess struct {
	Image   string   // reference of the image of prcheck
	Command []string // replaces the entry point; usually empty
	Args    []string // none means reconcile
}

// A Mistake says what is wrong with an entry.
type Mistake struct {
	Pointer string // below the entry of managed, such as /spec/cron
	Message string
	Warning bool // the objects are made nevertheless
}

// Objects returns the objects of an integration with the values of parameters filled in.
// Values that only the run knows are those of Late. Objects stand in the order of shards; there
// are none if a mistake is no warning.
func Objects(of Integration, values map[string]string, o Options) ([]manifests.Object, []Mistake) {
	r := newRenderer(of, values, o)
	r.checkSpec()
	shards := of.Shards
	if of.Spec.Cron != "" {
		shards = []Shard{{ExtraArgs: of.Spec.ExtraArgs}} // schedules are not divided
	}
	names := map[string]Shard{}
	var out []manifests.Object
	for _, shard := range shards {
		name, ok := r.name(shard)
		if !ok {
			continue
		}
		if other, isTaken := names[name]; isTaken {
			r.mistake(overridePointer(shard), "%s and %s have the same name, %s: change one of the keys", other, shard, name)
			continue
		}
		names[name] = shard
		object := r.object(shard, name)
		if object == nil {
			continue
		}
		if r.addSize(object); r.isTooLarge {
			return nil, r.mistakes
		}
		out = append(out, object)
	}
	if r.failed() {
		return nil, r.mistakes
	}
	return out, r.mistakes
}

// A renderer renders one integration.
type renderer struct {
	Options
	of         Integration
	kind       manifests.Kind
	parameters []template.Parameter
	values     map[string]string // of all parameters
	mistakes   []Mistake
	hasWarned  bool // of extraEnv
	size       int  // of all texts of the objects
	isTooLarge bool
	goodImages map[string]bool // that were checked
	script     string          // of the log shipper; it is the same for all shards
}

func newRenderer(of Integration, given map[string]string, o Options) *renderer {
	r := &renderer{Options: o, of: of, kind: kindOf(of.Spec), parameters: Parameters(of), goodImages: map[string]bool{}}
	if o.GovSlack {
		r.parameters = append(r.parameters, parameter("GOV_SLACK", "true"))
	}
	if o.Self == "" {
		r.Self = "integrations-manager"
	}
	r.values, _ = (&template.Template{Parameters: r.parameters}).Values(given) // none is required
	return r
}

// kindOf returns the kind of the objects of an integration. That it has state makes no
// StatefulSet.
func kindOf(spec Spec) manifests.Kind {
	switch {
	case spec.Cron != "":
		return manifests.CronJob
	case spec.Cache:
		return manifests.StatefulSet
	}
	return manifests.Deployment
}

// object returns the object of a shard. It returns nil after a mistake.
func (r *renderer) object(shard Shard, name string) manifests.Object {
	pod, ok := r.pod(shard)
	if !ok {
		return nil
	}
	frame := r.workload
	if r.kind == manifests.CronJob {
		pod.spec["restartPolicy"] = orDefault(r.of.Spec.RestartPolicy, "OnFailure")
		frame = r.cronJob
	}
	filled, err := template.Fill(frame(shard, name), r.values)
	if err != nil {
		r.mistake("", "its object cannot be made: %v", err)
		return nil
	}
	object := filled.(manifests.Object)
	pod.putInto(podTemplate(object))
	cleanImages(object)
	r.checkObject(shard, object)
	return object
}

// Service returns the Service that all integrations of a namespace share.
func Service() manifests.Object {
	return manifests.Object{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   fields{"name": component, "labels": fields{"app": component}},
		"spec": fields{
			"ports":    list{fields{"protocol": "TCP", "port": int64(80), "targetPort": int64(9090), "name": "http"}},
			"selector": fields{"component": component},
		},
	}
}

// mistake notes what is wrong at a pointer.
func (r *renderer) mistake(pointer, format string, args ...any) {
	r.note(Mistake{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// warn notes what people should know about the place at a pointer.
func (r *renderer) warn(pointer, format string, args ...any) {
	r.note(Mistake{Pointer: pointer, Message: fmt.Sprintf(format, args...), Warning: true})
}

// note keeps a mistake, once: many shards may have the same.
func (r *renderer) note(m Mistake) {
	if !slices.Contains(r.mistakes, m) {
		r.mistakes = append(r.mistakes, m)
	}
}

// failed reports whether there is a mistake that is no warning.
func (r *renderer) failed() bool {
	for _, m := range r.mistakes {
		if !m.Warning {
			return true
		}
	}
	return false
}

// String returns how messages name the shard.
func (s Shard) String() string {
	switch {
	case s.Key != "" && s.ID != "":
		return fmt.Sprintf("the shard %.80q, part %s", s.Key, s.ID)
	case s.Key != "":
		return fmt.Sprintf("the shard %.80q", s.Key)
	case s.ID != "":
		return "the shard " + s.ID
	}
	return "the only shard"
}

// overridePointer returns the pointer to the override of a shard, or to the sharding.
func overridePointer(s Shard) string {
	if s.Override != "" {
		return s.Override
	}
	return "/sharding"
}

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
