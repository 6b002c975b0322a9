package kubetest

import (
	"maps"
	"slices"
	"strconv"
)

// isReady returns 1 if a pod is ready, and 0 if it is not.
func isReady(pod map[string]any) int {
	for _, c := range listOf(mapOf(pod["status"])["conditions"]) {
		if is := mapOf(c); is["type"] == "Ready" && is["status"] == "True" {
			return 1
		}
	}
	return 0
}

// runPod does what a machine does with a pod.
func (s *Server) runPod(path string) {
	body := s.objects[path].body
	fate := Ready
	if s.Fate != nil {
		fate = s.Fate(copyOf(body))
	}
	if mapOf(body["metadata"])["deletionTimestamp"] != nil {
		if fate != Lingering {
			s.remove(path)
		}
		return
	}
	s.setStatus(path, statusOf(body, fate))
}

// restarts is how often the containers of a crashing pod started.
const restarts = 7

// statusOf returns the status of a pod.
func statusOf(pod map[string]any, fate Fate) map[string]any {
	if fate == Pending {
		return map[string]any{"phase": "Pending"}
	}
	phase, ready, count, state := "Running", true, 0,
		map[string]any{"running": map[string]any{"startedAt": "2026-01-01T00:00:00Z"}}
	switch fate {
	case Crashing:
		ready, count, state = false, restarts, waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container")
	case NoImage:
		phase, ready, state = "Pending", false, waiting("ImagePullBackOff", "Back-off pulling image")
	case Finished:
		phase, ready, state = "Succeeded", false,
			map[string]any{"terminated": map[string]any{"exitCode": int64(0), "reason": "Completed",
				"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z"}}
	}
	var containers []any
	for _, c := range listOf(mapOf(pod["spec"])["containers"]) {
		is := mapOf(c)
		containers = append(containers, map[string]any{"name": is["name"], "image": is["image"], "imageID": "",
			"ready": ready, "restartCount": int64(count), "state": state})
	}
	text := map[bool]string{true: "True", false: "False"}[ready]
	return map[string]any{"phase": phase, "containerStatuses": containers,
		"conditions": []any{map[string]any{"type": "Ready", "status": text},
			map[string]any{"type": "ContainersReady", "status": text}}}
}

func waiting(reason, message string) map[string]any {
	return map[string]any{"waiting": map[string]any{"reason": reason, "message": message}}
}

const revisionLabel = "controller-revision-hash"

// keepSet does what the controller of StatefulSets does for one of them: one pod after the
// other, and an old one ends before its successor starts. A pod that is not ready holds
// everything up, also a new template.
func (s *Server) keepSet(path string) {
	body := s.objects[path].body
	m, spec := mapOf(body["metadata"]), mapOf(body["spec"])
	if m["deletionTimestamp"] != nil {
		return
	}
	template := mapOf(spec["template"])
	revision := textOf(m["name"]) + "-" + hashOf(template)
	pods := map[string]string{} // by name
	for _, pod := range s.owned("Pod", path) {
		pods[textOf(mapOf(s.objects[pod].body["metadata"])["name"])] = pod
	}
	s.orderPods(path, pods, template, revision)
	living := s.living(path)
	updated := 0
	for _, pod := range living {
		if mapOf(s.objects[pod].body["metadata"], "labels")[revisionLabel] == revision {
			updated++
		}
	}
	status := map[string]any{"replicas": int64(len(living)), "availableReplicas": int64(0),
		"observedGeneration": m["generation"],
		"updateRevision":     revision, "updatedReplicas": int64(updated), "collisionCount": int64(0)}
	if updated == len(living) {
		status["currentRevision"], status["currentReplicas"] = revision, int64(updated)
	}
	maps.Copy(status, s.readyOf(living))
	s.setStatus(path, status)
}

// orderPods takes at most one step towards the wanted pods of a StatefulSet.
func (s *Server) orderPods(path string, pods map[string]string, template map[string]any, revision string) {
	body := s.objects[path].body
	name, wanted := textOf(mapOf(body["metadata"])["name"]), number(mapOf(body["spec"])["replicas"])
	isGoing := func(pod string) bool { return mapOf(s.objects[pod].body["metadata"])["deletionTimestamp"] != nil }
	for i := range wanted {
		pod := name + "-" + strconv.Itoa(i)
		at, has := pods[pod]
		if !has {
			s.makeClaims(body, pod)
			s.makePod(path, pod, template,
				map[string]string{revisionLabel: revision, "apps.kubernetes.io/pod-index": strconv.Itoa(i),
					"statefulset.kubernetes.io/pod-name": pod})
			return
		}
		delete(pods, pod)
		if isGoing(at) || isReady(s.objects[at].body) == 0 {
			return
		}
		pods["\x00"+pod] = at // wanted and ready
	}
	// What is not wanted any more goes first, then what is old, from the end.
	for _, kept := range []bool{false, true} {
		for _, pod := range slices.Backward(slices.Sorted(maps.Keys(pods))) {
			at := pods[pod]
			if (pod[0] == 0) != kept {
				continue
			}
			isOld := mapOf(s.objects[at].body["metadata"], "labels")[revisionLabel] != revision
			if kept && !isOld {
				continue
			}
			if !isGoing(at) {
				s.doomAt(at, "Background")
			}
			return
		}
	}
}

// makeClaims makes the claims of a pod of a StatefulSet. They stay when the pod goes.
func (s *Server) makeClaims(set map[string]any, pod string) {
	for _, c := range listOf(mapOf(set["spec"])["volumeClaimTemplates"]) {
		claim := copyOf(mapOf(c))
		m := mapOf(set["metadata"])
		name := textOf(mapOf(claim["metadata"])["name"]) + "-" + pod
		if s.objects["/api/v1/namespaces/"+textOf(m["namespace"])+"/persistentvolumeclaims/"+name] == nil {
			dig(claim, "metadata")["labels"] = mapOf(set["spec"], "selector", "matchLabels")
			s.spawn(set, "PersistentVolumeClaim", name, claim)
		}
	}
}
