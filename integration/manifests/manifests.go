package manifests

import (
	"encoding/json"

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

// A Kind is a type of objects that this package knows.
type Kind string

// The kinds.
const (
	Deployment  Kind = "Deployment"
	StatefulSet Kind = "StatefulSet"
	CronJob     Kind = "CronJob"
	Service     Kind = "Service"
)

// A Live is an object as it was read. It is the body of a [reconcile.Thing].
type Live struct {
	Object                     Object
	Kind                       Kind
	Namespace, Name            string
	UID, Version               string
	HasOwner, IsDeleting, Ours bool // Ours: a field manager of ours applied it
}

// Options say how objects are compared and applied.
type Options struct {
	Manager         string   // our field manager, prcheck-NAME
	TakeFrom        []string // managers whose fields become ours, see [integration.ClusterWriter]
	Override        []string // managers whose fields may be overridden
	MigrateSelector bool     // a Deployment whose selector must change is made anew
}

// Read reads a live object.
func Read(of Kind, raw json.RawMessage, o Options) (*Live, error) { return nil, nil }

// Diff returns how a live object differs from its manifest: in fields that the manifest has, in
// fields that it no longer has, and in field managers. It asks nobody.
func Diff(want Object, is *Live, o Options) (reconcile.Difference, error) {
	return reconcile.Difference{}, nil
}

// Resource returns the type of objects that a kind is.
func (k Kind) Resource() integration.Resource { return integration.Resource{} }

// A Health says whether the processes of an object work.
type Health struct {
	Ready  bool
	Failed bool   // it will not become ready by itself
	Reason string // why it is not ready, for people
}
