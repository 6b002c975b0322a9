package manifests

import (
	"cmp"
	"fmt"
	"github.com/app-sre/prcheck/internal/phrase"
	"strings"
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
