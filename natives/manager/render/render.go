package render

import (
	"fmt"
	"slices"

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
