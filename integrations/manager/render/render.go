package render

import (
	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/integration/template"
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
}

// Options say how objects are rendered.
type Options struct {
	Parity   bool           // exactly as the chart of qontract-reconcile does
	GovSlack bool           // logs go to the Slack of the government as well
	Pod      *PodTemplate   // replaces our own template of pods; nil is our own
	Self     string         // name of the integration that renders
	Process  *NativeProcess // the integration is a native of prcheck; nil if it is none
}

// A NativeProcess says how a native integration of prcheck is started.
type NativeProcess struct {
	Image   string   // reference of the image of prcheck
	Command []string // replaces the entry point; usually empty
	Args    []string
}

// A PodTemplate is a template of pods that an installation brings.
type PodTemplate struct{}

// A Mistake says what is wrong with an entry.
type Mistake struct {
	Pointer string // below the entry of managed, such as /spec/cron
	Message string
	Warning bool // the objects are made nevertheless
}

// Parameters returns the parameters that the objects of integrations use, with their defaults.
func Parameters(of ...Integration) []template.Parameter { return nil }

// Objects returns the objects of an integration with the values of parameters filled in.
// Values that only the run knows are those of Late. Objects stand in the order of shards; there
// are none if a mistake is no warning.
func Objects(of Integration, values map[string]string, o Options) ([]manifests.Object, []Mistake) {
	return nil, nil
}

// Service returns the Service that all integrations of a namespace share.
func Service() manifests.Object { return nil }

// Late returns the text that stands for a parameter whose value only the run knows. Fill
// replaces it.
func Late(name string) string { return "${late:" + name + "}" }

// Fill returns an object with the values of late parameters.
func Fill(object manifests.Object, values map[string]string) (manifests.Object, error) {
	return nil, nil
}

// ObjectName returns a name that Kubernetes accepts for the object of an integration.
func ObjectName(kind manifests.Kind, integration, suffix string) string { return "" }
