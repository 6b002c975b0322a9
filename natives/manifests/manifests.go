package manifests

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// An Object is an object of Kubernetes as decoded JSON. Its numbers are json.Number, int64 or
// float64.
type Object = map[string]any

// DigestAnnotation is the annotation with the digest of the manifest that was applied last.
const DigestAnnotation = "prcheck/manifest-sha256"

// SecretsAnnotation is the annotation with the names of the secrets whose values the manifest has. The
// digest of such a manifest is that with names in place of values.
const SecretsAnnotation = "prcheck/secrets"

// InstanceLabel is the label that tells the pods of one Deployment from those of all others of
// its integration.
const InstanceLabel = "app.kubernetes.io/instance"

// The codes of mistakes.
const (
	CodeConflict  plan.FindingCode = "FIELD_CONFLICT"  // another field manager owns a field
	CodeImmutable plan.FindingCode = "IMMUTABLE_FIELD" // a field cannot be changed
)

// A Kind is a kind of objects, with the resource by which a cluster knows it. Kinds that are not
// among those of this package come from [integration.ClusterReader].
type Kind = integration.Kind

// Kinds about which this package knows more than that they are objects.
var (
	Deployment  = builtin("apps", "Deployment", "deployments")
	StatefulSet = builtin("apps", "StatefulSet", "statefulsets")
	CronJob     = builtin("batch", "CronJob", "cronjobs")
	Job         = builtin("batch", "Job", "jobs")
	Service     = builtin("", "Service", "services")

	secret         = builtin("", "Secret", "secrets")
	configMap      = builtin("", "ConfigMap", "configmaps")
	serviceAccount = builtin("", "ServiceAccount", "serviceaccounts")
)

// Named returns the kind of this package with a name, the zero value if there is none.
func Named(name string) Kind {
	for _, k := range []Kind{Deployment, StatefulSet, CronJob, Job, Service} {
		if k.Name == name {
			return k
		}
	}
	return Kind{}
}

func builtin(group, name, plural string) Kind {
	return Kind{Resource: integration.Resource{Group: group, Version: "v1", Plural: plural}, Name: name, Namespaced: true}
}

// Options say how objects are compared and applied.
type Options struct {
	Manager         string   // our field manager, prcheck-NAME
	TakeFrom        []string // managers whose fields become ours; nil is [Appliers]
	Override        []string // managers that lose the fields in which they differ
	MigrateSelector bool     // an object whose selector must change is made anew
	// AsWritten says that the labels of a manifest stay as they are: the label of [InstanceLabel]
	// is never left out for a live object that does not have it in its selector.
	AsWritten bool
	// Digest is that of the one manifest that is compared or applied, "" for [Digest]. A manifest with
	// values of secrets has that of the manifest with their names.
	Digest string
	// Unknown are JSON pointers of the places of the manifest whose values nobody knows. They are not
	// compared.
	Unknown []string
}

// isUnknown reports whether a place is at or below one whose value nobody knows.
func (o Options) isUnknown(p place) bool {
	if len(o.Unknown) == 0 {
		return false
	}
	is := p.pointer()
	return slices.ContainsFunc(o.Unknown, func(at string) bool { return is == at || strings.HasPrefix(is, at+"/") })
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
	return m.Operation == "Update" && m.Subresource == "" &&
		(m.Manager == o.Manager || slices.Contains(o.takeFrom(), m.Manager))
}

// isOurs reports whether an entry is one of our field manager.
func (o Options) isOurs(m managed) bool { return m.Manager == o.Manager && m.Subresource == "" }

// Normal returns an object of a template as a manifest, so that it can be compared with what a
// server keeps: without null, without status and what only servers write, and a Secret has its
// texts in data. The object itself is not changed.
func Normal(o Object) Object {
	out, _ := withoutNulls(o).(map[string]any)
	delete(out, "status")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
			"managedFields", "selfLink"} {
			delete(metadata, name)
		}
		if notes, ok := metadata["annotations"].(map[string]any); ok {
			delete(notes, appliedBefore)
		}
	}
	if out["kind"] == secret.Name && out["apiVersion"] == secret.Version {
		setData(out)
	}
	return out
}

// withoutNulls returns a copy of a value in which no object has a member that is null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if member != nil {
				out[name] = withoutNulls(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return v
}

// setData moves the texts of a Secret into its data, as servers do, and writes data as servers
// do: base64 on one line. What is no text stays, so that the server says what is wrong.
func setData(o Object) {
	data, isObject := o["data"].(map[string]any)
	if !isObject && o["data"] != nil {
		return
	}
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	for name, value := range data {
		if text, ok := value.(string); ok {
			data[name] = strings.NewReplacer("\n", "", "\r", "").Replace(text)
		}
	}
	if texts, ok := o["stringData"].(map[string]any); ok {
		left := map[string]any{}
		for name, value := range texts {
			if text, ok := value.(string); ok {
				data[name] = base64.StdEncoding.EncodeToString([]byte(text))
			} else {
				left[name] = value
			}
		}
		delete(o, "stringData")
		if len(left) > 0 {
			o["stringData"] = left
		}
	}
	if len(data) > 0 || isObject {
		o["data"] = data
	}
}
