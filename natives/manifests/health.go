package manifests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A Health says whether the processes of an object work.
type Health struct {
	Ready  bool
	Failed bool   // it will not become ready by itself
	Reason string // why it is not ready, for people
}

// maxRestarts is how often a container may crash until it counts as failed.
const maxRestarts = 5

// HealthOf returns the health of an object, whose pods are those of [PodsOf].
//
// A Deployment or StatefulSet is ready if its controller has seen the newest manifest and all
// of its pods are those of the newest manifest, are available, and no others are left. It has
// failed if its controller gave up, or if a pod of the newest manifest crashes again and again or
// cannot get its image. For the health of other kinds see [healthOf].
func HealthOf(is *Live, pods []Pod) Health {
	if is.Kind != Deployment && is.Kind != StatefulSet {
		return is.healthOf()
	}
	want, isSaid := whole(at(is.Object, "spec", "replicas"))
	if !isSaid {
		want = 1
	}
	status := func(name string) int64 { n, _ := whole(at(is.Object, "status", name)); return n }
	generation, _ := whole(at(is.Object, "metadata", "generation"))
	available := status("availableReplicas")
	if at(is.Object, "status", "availableReplicas") == nil {
		available = status("readyReplicas")
	}
	updated := status("updatedReplicas")
	if text(at(is.Object, "spec", "updateStrategy", "type")) == "OnDelete" {
		updated = want // old pods stay until somebody deletes them
	}
	wait := func(format string, args ...any) Health { return Health{Reason: fmt.Sprintf(format, args...)} }
	switch {
	case is.IsDeleting:
		return wait("it is being deleted")
	case status("observedGeneration") < generation:
		return wait("its controller has not seen the newest manifest")
	case want == 0 && (status("replicas") > 0 || Running(pods) > 0):
		return wait("%d pods are left", max(status("replicas"), int64(Running(pods))))
	case status("replicas") == want && updated == want && available == want:
		return Health{Ready: true}
	}
	if reason := cmp.Or(is.givenUp(), failureOf(pods)); reason != "" {
		return Health{Failed: true, Reason: reason}
	}
	return wait("%d of %d pods are new and %d are available; %d are there%s", updated, want, available, status("replicas"),
		is.trouble())
}

// givenUp returns why the controller of an object does not go on, "" if it does.
func (l *Live) givenUp() string {
	for _, c := range l.conditions() {
		if c.kind == "Progressing" && c.status == "False" && c.reason == "ProgressDeadlineExceeded" {
			return "ProgressDeadlineExceeded: its pods did not become ready in time"
		}
	}
	return ""
}

// trouble returns what the controller of an object says about pods that cannot be made.
func (l *Live) trouble() string {
	for _, c := range l.conditions() {
		if c.kind == "ReplicaFailure" && c.status == "True" {
			return "; " + phrase.Cut(c.reason+": "+c.message, maxShown)
		}
	}
	return ""
}

// A condition is what a controller says about an object.
type condition struct{ kind, status, reason, message string }

func (l *Live) conditions() []condition {
	list, _ := at(l.Object, "status", "conditions").([]any)
	var out []condition
	for _, c := range list {
		out = append(out, condition{text(at(c, "type")), text(at(c, "status")), text(at(c, "reason")),
			text(at(c, "message"))})
	}
	return out
}

// failureOf returns why a pod of the newest manifest does not start, "" if nothing says so.
func failureOf(pods []Pod) string {
	for _, p := range pods {
		if !p.Newest || p.isDeleting {
			continue
		}
		for _, c := range p.containers {
			switch c.reason {
			case "CrashLoopBackOff":
				if c.restarts >= maxRestarts {
					return fmt.Sprintf("%s: container %.60s of pod %.100s crashed %d times", c.reason, c.name, p.Name, c.restarts)
				}
			case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull":
				return fmt.Sprintf("%s: container %.60s of pod %.100s has no image %s", c.reason, c.name, p.Name,
					strings.TrimSpace(phrase.Cut(c.image, maxShown)))
			}
		}
	}
	return ""
}

// whole returns a whole number.
func whole(v any) (int64, bool) {
	n, ok := plain(v).(int64)
	return n, ok
}

// A Live is an object as it was read. It is the body of a [reconcile.Thing].
type Live struct {
	Object                     Object
	Kind                       Kind
	Namespace, Name            string
	UID, Version               string
	HasOwner, IsDeleting, Ours bool // Ours: a field manager of ours set a field of it

	managed []managed
}

// A managed entry says which fields a field manager owns.
type managed struct {
	Manager, Operation, Subresource string
	written                         any                            // the fields as they are written
	fields                          func() (*fieldpath.Set, error) // reads them once, which takes time
}

// Read reads a live object.
func Read(of Kind, raw json.RawMessage, o Options) (*Live, error) {
	object, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("reading a %s: %w", of, err)
	}
	meta, _ := object["metadata"].(map[string]any)
	out := &Live{
		Object: object, Kind: of, Namespace: text(meta["namespace"]), Name: text(meta["name"]), UID: text(meta["uid"]),
		Version: text(meta["resourceVersion"]), IsDeleting: meta["deletionTimestamp"] != nil,
	}
	kind := text(object["kind"])
	switch {
	case kind != "" && kind != of.Name: // items of a list may say no kind
		return nil, fmt.Errorf("reading a %s: it is a %.40q", of, kind)
	case out.Name == "" || out.UID == "" || out.Version == "":
		return nil, fmt.Errorf("reading a %s %.100q: it has no name, uid or resourceVersion", of, out.Name)
	}
	owners, _ := meta["ownerReferences"].([]any)
	out.HasOwner = len(owners) > 0
	entries, _ := meta["managedFields"].([]any)
	for _, entry := range entries {
		m := managed{Manager: text(at(entry, "manager")), Operation: text(at(entry, "operation")),
			Subresource: text(at(entry, "subresource")), written: at(entry, "fieldsV1")}
		m.fields = sync.OnceValues(func() (*fieldpath.Set, error) { return readFields(m.written) })
		out.managed = append(out.managed, m)
		out.Ours = out.Ours || o.isOurs(m)
	}
	return out, nil
}

// decode returns JSON as an object. Its numbers are json.Number.
func decode(raw []byte) (Object, error) {
	var out Object
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	if err := numbers.Decode(&out); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, errors.New("it is null")
	}
	return out, nil
}

// readFields reads the fields that a manager owns.
func readFields(fields any) (*fieldpath.Set, error) {
	out := fieldpath.NewSet()
	if fields == nil {
		return out, nil
	}
	if err := out.FromJSON(strings.NewReader(canonical(fields))); err != nil {
		return nil, fmt.Errorf("reading managedFields: %w", err)
	}
	return out, nil
}

// Ref names the object.
func (l *Live) Ref() integration.ObjectRef { return l.Kind.Ref(l.Namespace, l.Name) }

// Preconditions name this state of the object.
func (l *Live) Preconditions() integration.Preconditions {
	return integration.Preconditions{UID: l.UID, ResourceVersion: l.Version}
}

// Mark returns the mark on the object.
func (l *Live) Mark() reconcile.Mark { return reconcile.MarkOfAnnotations(l.annotations()) }

// Deletable reports whether the object may be deleted at all: nothing owns it, and we set fields
// of it. A mark alone does not suffice, because others copy labels and annotations.
func (l *Live) Deletable() bool { return l.Ours && !l.HasOwner }

// Thing returns the object as a thing. A thing that no entry names must be left out unless it is
// [Live.Deletable].
func (l *Live) Thing(key reconcile.Key) reconcile.Thing {
	return reconcile.Thing{Key: key, Body: l, Mark: l.Mark(), SoftDeleted: l.IsDeleting, Version: l.Version}
}

// annotations returns the annotations of the object.
func (l *Live) annotations() map[string]string { return texts(at(l.Object, "metadata", "annotations")) }

// texts returns the members of an object that are texts.
func texts(value any) map[string]string {
	out := map[string]string{}
	members, _ := value.(map[string]any)
	for name, member := range members {
		if text, ok := member.(string); ok {
			out[name] = text
		}
	}
	return out
}

// at returns the value at a place of nested objects, nil if there is none.
func at(value any, names ...string) any {
	for _, name := range names {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

// appliedBefore are the annotations in which clients note what they applied.
const appliedBefore = "kubectl.kubernetes.io/last-applied-configuration"

// isNoted reports whether an annotation or label is a note about the object and no part of its
// manifest: the mark, the digest, and what kubectl applied.
func isNoted(name string) bool {
	if name == DigestAnnotation || strings.HasPrefix(name, appliedBefore) {
		return true
	}
	_, isAnnotation := everyMark.Annotations()[name]
	_, isLabel := everyMark.Labels()[name]
	return isAnnotation || isLabel
}

// everyMark is a mark with all of its parts.
var everyMark = reconcile.Mark{Integration: "i", Version: "1", Caller: "c"}

// Secrets returns what the object says about the secrets of the manifest that was applied last, "" if it says
// nothing.
func (l *Live) Secrets() string {
	return text(at(l.Object, "metadata", "annotations", SecretsAnnotation))
}

// Digest returns the digest of the manifest that was applied last, "" if there is none.
func (l *Live) Digest() string {
	return text(at(l.Object, "metadata", "annotations", DigestAnnotation))
}

// Awaits reports whether objects of a kind become ready some time after they were written. All
// others are ready at once.
func Awaits(k Kind) bool {
	return k == Deployment || k == StatefulSet || healths[k.Name] != nil && k.Group == healthGroups[k.Name]
}

// The kinds beside Deployment and StatefulSet whose status says whether they are ready, and their
// groups.
var (
	healths = map[string]func(*Live) Health{
		"Job": (*Live).jobHealth, "DeploymentConfig": (*Live).replicaHealth, "Subscription": (*Live).subscriptionHealth,
		"ClowdApp": (*Live).clowdAppHealth, "ClowdJobInvocation": (*Live).clowdJobHealth,
	}
	healthGroups = map[string]string{
		"Job": "batch", "DeploymentConfig": "apps.openshift.io", "Subscription": "operators.coreos.com",
		"ClowdApp": "cloud.redhat.com", "ClowdJobInvocation": "cloud.redhat.com",
	}
)

// healthOf returns the health of an object that is no Deployment or StatefulSet:
//
//	Job                 ready if it succeeded, failed if its controller says so
//	DeploymentConfig    ready if all replicas are new and ready
//	Subscription        ready if its state is AtLatestKnown
//	ClowdApp            ready if all managed deployments are ready
//	ClowdJobInvocation  ready if it completed, failed if one of its jobs did
//
// All other kinds are ready at once.
func (l *Live) healthOf() Health {
	health := healths[l.Kind.Name]
	if !Awaits(l.Kind) || health == nil {
		return Health{Ready: true}
	}
	if l.IsDeleting {
		return Health{Reason: "it is being deleted"}
	}
	return health(l)
}

func (l *Live) jobHealth() Health {
	for _, c := range l.conditions() {
		if c.status != "True" {
			continue
		}
		switch c.kind {
		case "Complete", "SuccessCriteriaMet":
			return Health{Ready: true}
		case "Failed", "FailureTarget":
			return Health{Failed: true, Reason: phrase.Cut(c.reason+": "+c.message, maxShown)}
		}
	}
	if n, _ := whole(at(l.Object, "status", "succeeded")); n > 0 && at(l.Object, "spec", "completions") == nil {
		return Health{Ready: true} // a queue of work: one that succeeded ends it
	}
	if at(l.Object, "spec", "suspend") == true {
		return Health{Reason: "it is suspended"}
	}
	return Health{Reason: "it has not succeeded yet"}
}

func (l *Live) replicaHealth() Health {
	want, isSaid := whole(at(l.Object, "spec", "replicas"))
	if !isSaid {
		want = 1
	}
	status := func(name string) int64 { n, _ := whole(at(l.Object, "status", name)); return n }
	generation, _ := whole(at(l.Object, "metadata", "generation"))
	switch {
	case status("observedGeneration") < generation:
		return Health{Reason: "its controller has not seen the newest manifest"}
	case status("replicas") == want && status("updatedReplicas") == want && status("readyReplicas") == want:
		return Health{Ready: true}
	}
	return Health{Reason: fmt.Sprintf("%d of %d pods are new and %d are ready; %d are there", status("updatedReplicas"),
		want, status("readyReplicas"), status("replicas"))}
}

func (l *Live) subscriptionHealth() Health {
	if state := text(at(l.Object, "status", "state")); state != "AtLatestKnown" {
		return Health{Reason: fmt.Sprintf("its state is %.60q, want AtLatestKnown", state)}
	}
	return Health{Ready: true}
}

func (l *Live) clowdAppHealth() Health {
	managed, hasManaged := whole(at(l.Object, "status", "deployments", "managedDeployments"))
	ready, hasReady := whole(at(l.Object, "status", "deployments", "readyDeployments"))
	switch {
	case at(l.Object, "status", "deployments") == nil || !hasManaged && !hasReady:
		return Health{Reason: "it says nothing about its deployments"}
	case managed != ready:
		return Health{Reason: fmt.Sprintf("%d of %d deployments are ready", ready, managed)}
	}
	return Health{Ready: true}
}

func (l *Live) clowdJobHealth() Health {
	if at(l.Object, "status", "completed") != true {
		return Health{Reason: "it has not completed yet"}
	}
	jobs := texts(at(l.Object, "status", "jobMap"))
	maps.DeleteFunc(jobs, func(_, state string) bool { return state != "Failed" })
	if len(jobs) > 0 {
		return Health{Failed: true,
			Reason: "jobs failed: " + phrase.Cut(strings.Join(slices.Sorted(maps.Keys(jobs)), ", "), maxShown)}
	}
	return Health{Ready: true}
}
