package manifests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// A Pod is a pod of a Deployment or StatefulSet.
type Pod struct {
	Name   string
	Newest bool // it was made of the newest manifest

	uid                    string
	isDeleting, isFinished bool
	containers             []container
}

// A container is the status of a container that waits.
type container struct {
	name, image, reason string
	restarts            int
}

// Running returns how many pods have or may have processes: all that have not finished, also
// those that are being deleted.
func Running(pods []Pod) int {
	n := 0
	for _, p := range pods {
		if !p.isFinished {
			n++
		}
	}
	return n
}

// A dependent is a ReplicaSet or a pod, as far as it is looked at.
type dependent struct {
	Metadata struct {
		Name, UID, DeletionTimestamp string
		Labels, Annotations          map[string]string
		OwnerReferences              []struct {
			UID        string
			Controller bool
		}
	}
	Status struct {
		Phase                                    string
		ContainerStatuses, InitContainerStatuses []struct {
			Name, Image  string
			RestartCount int
			State        struct {
				Waiting struct{ Reason string }
			}
		}
	}
}

// controller returns the uid of the object that made it, "" if there is none.
func (d *dependent) controller() string {
	for _, r := range d.Metadata.OwnerReferences {
		if r.Controller {
			return r.UID
		}
	}
	return ""
}

func readDependents(raw []json.RawMessage) ([]dependent, error) {
	out := make([]dependent, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &out[i]); err != nil {
			return nil, fmt.Errorf("reading a dependent object: %w", err)
		}
	}
	return out, nil
}

// PodsOf returns the pods of an object, sorted by name. They are told by who made them and not by
// labels, which other objects may share. The ReplicaSets and pods may be all of the namespace.
func PodsOf(is *Live, replicaSets, pods []json.RawMessage) ([]Pod, error) {
	sets, err := readDependents(replicaSets)
	if err != nil {
		return nil, err
	}
	all, err := readDependents(pods)
	if err != nil {
		return nil, err
	}
	revisions := map[string]int{} // by the uid of what makes the pods
	newest := 0
	if is.Kind == StatefulSet {
		revisions[is.UID] = 0
	}
	for i := range sets {
		if is.Kind == Deployment && sets[i].controller() == is.UID {
			n, _ := strconv.Atoi(sets[i].Metadata.Annotations["deployment.kubernetes.io/revision"]) // none is 0
			revisions[sets[i].Metadata.UID], newest = n, max(newest, n)
		}
	}
	var out []Pod
	for i := range all {
		p := &all[i]
		revision, isOurs := revisions[p.controller()]
		if !isOurs || p.controller() == "" {
			continue
		}
		hash, wanted := p.Metadata.Labels["controller-revision-hash"], text(at(is.Object, "status", "updateRevision"))
		isNewest := revision == newest && (is.Kind != StatefulSet || hash == wanted || hash == "" || wanted == "")
		out = append(out, p.pod(isNewest))
	}
	slices.SortFunc(out, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// pod returns a dependent as a pod.
func (d *dependent) pod(isNewest bool) Pod {
	out := Pod{Name: d.Metadata.Name, uid: d.Metadata.UID, Newest: isNewest,
		isDeleting: d.Metadata.DeletionTimestamp != "",
		isFinished: d.Status.Phase == "Succeeded" || d.Status.Phase == "Failed"}
	for _, c := range slices.Concat(d.Status.InitContainerStatuses, d.Status.ContainerStatuses) {
		if reason := c.State.Waiting.Reason; reason != "" {
			out.containers = append(out.containers, container{c.Name, c.Image, reason, c.RestartCount})
		}
	}
	return out
}
