package manifests

import (
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/reconcile"
)

// An Object is an object of Kubernetes as decoded JSON. Its numbers are json.Number, int64 or
// float64.
type Object = map[string]any

// DigestAnnotation is the annotation with the digest of the manifest that was applied last.
const DigestAnnotation = "prcheck/manifest-sha256"

// InstanceLabel is the label that tells the pods of one Deployment from those of all others of
// its integration.
const InstanceLabel = "app.kubernetes.io/instance"

// The codes of mistakes.
const (
	CodeConflict  reconcile.Code = "FIELD_CONFLICT"  // another field manager owns a field
	CodeImmutable reconcile.Code = "IMMUTABLE_FIELD" // a field cannot be changed
)

// A Kind is a type of objects that this package knows.
type Kind string

// The kinds.
const (
	Deployment  Kind = "Deployment"
	StatefulSet Kind = "StatefulSet"
	CronJob     Kind = "CronJob"
	Service     Kind = "Service"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{CronJob, Deployment, Service, StatefulSet} }

// Resource returns the type of objects that a kind is. The zero value is no known kind.
func (k Kind) Resource() integration.Resource {
	switch k {
	case Deployment:
		return integration.Resource{Group: "apps", Version: "v1", Plural: "deployments"}
	case StatefulSet:
		return integration.Resource{Group: "apps", Version: "v1", Plural: "statefulsets"}
	case CronJob:
		return integration.Resource{Group: "batch", Version: "v1", Plural: "cronjobs"}
	case Service:
		return integration.Resource{Version: "v1", Plural: "services"}
	}
	return integration.Resource{}
}

// Ref names an object of a kind.
func (k Kind) Ref(namespace, name string) integration.ObjectRef {
	return integration.ObjectRef{Resource: k.Resource(), Namespace: namespace, Name: name}
}

// Options say how objects are compared and applied.
type Options struct {
	Manager         string   // our field manager, prcheck-NAME
	TakeFrom        []string // managers whose fields become ours; nil is [Appliers]
	Override        []string // managers that lose the fields in which they differ
	MigrateSelector bool     // an object whose selector must change is made anew
}

// Appliers returns the field managers of programs that apply whole objects from a client: those
// of kubectl and oc, and the one under which a server notes fields that are older than managers.
func Appliers() []string {
	return []string{"before-first-apply", "kubectl-client-side-apply", "kubectl-create", "kubectl-replace", "oc"}
}

// takeFrom returns the managers whose fields become ours.
func (o Options) takeFrom() []string {
	if o.TakeFrom == nil {
		return Appliers()
	}
	return o.TakeFrom
}

// takes reports whether the fields of an entry become ours, as
// [integration.ClusterWriter.TakeFields] does it.
func (o Options) takes(m managed) bool {
	return m.Operation == "Update" && m.Subresource == "" && (m.Manager == o.Manager || slices.Contains(o.takeFrom(), m.Manager))
}

// isOurs reports whether an entry is one of our field manager.
func (o Options) isOurs(m managed) bool { return m.Manager == o.Manager && m.Subresource == "" }
