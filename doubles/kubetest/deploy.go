package kubetest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// number returns a whole number, 0 if it is none.
func number(v any) int {
	n, _ := v.(int64)
	return int(n)
}

const hashLabel = "pod-template-hash"

// deploy does what the controller of Deployments does for one of them.
func (s *Server) deploy(path string) {
	body := s.objects[path].body
	if mapOf(body["metadata"])["deletionTimestamp"] != nil {
		return
	}
	spec := mapOf(body["spec"])
	var current string
	var old []string
	for _, set := range s.owned("ReplicaSet", path) {
		s.roots[set] = path
		if current == "" && equal(templateOf(s.objects[set].body), mapOf(spec["template"])) {
			current = set
			continue
		}
		old = append(old, set)
	}
	if mapOf(spec["strategy"])["type"] == "Recreate" {
		s.recreate(path, current, old)
	} else {
		s.roll(path, current, old)
	}
	s.forgetSets(old, number(spec["revisionHistoryLimit"]))
	s.tellDeployment(path)
}

// templateOf returns the template of a ReplicaSet as its Deployment has it.
func templateOf(set map[string]any) map[string]any {
	out := copyOf(mapOf(set["spec"], "template"))
	delete(dig(dig(out, "metadata"), "labels"), hashLabel)
	return out
}

// scale sets how many pods a ReplicaSet has.
func (s *Server) scale(set string, n int) {
	s.change(set, func(body map[string]any) {
		if spec := dig(body, "spec"); number(spec["replicas"]) != n {
			spec["replicas"] = int64(n)
			m := dig(body, "metadata")
			m["generation"] = int64(number(m["generation"]) + 1)
		}
	})
}

// makeSet makes the ReplicaSet of the template of a Deployment.
func (s *Server) makeSet(path string, n int) {
	body := s.objects[path].body
	template := copyOf(mapOf(body["spec"], "template"))
	hash := hashOf(template)
	dig(dig(template, "metadata"), "labels")[hashLabel] = hash
	selector := copyOf(mapOf(body["spec"], "selector"))
	dig(selector, "matchLabels")[hashLabel] = hash
	set := s.spawn(body, "ReplicaSet", textOf(mapOf(body["metadata"])["name"])+"-"+hash, map[string]any{
		"metadata": map[string]any{"labels": mapOf(template["metadata"], "labels")},
		"spec":     map[string]any{"replicas": int64(n), "selector": selector, "template": template},
	})
	s.roots[set] = path
}

// recreate ends all old pods before there are new ones.
func (s *Server) recreate(path, current string, old []string) {
	isGone := true
	for _, set := range old {
		s.scale(set, 0)
		isGone = isGone && len(s.owned("Pod", set)) == 0
	}
	n := number(mapOf(s.objects[path].body["spec"])["replicas"])
	switch {
	case !isGone:
	case current == "":
		s.makeSet(path, n)
	default:
		s.scale(current, n)
	}
}

// roll replaces pods step by step: there are at most maxSurge more than wanted, and at most
// maxUnavailable fewer ready ones.
func (s *Server) roll(path, current string, old []string) {
	spec := mapOf(s.objects[path].body["spec"])
	wanted := number(spec["replicas"])
	limits := mapOf(spec["strategy"], "rollingUpdate")
	surge, fewer := share(limits["maxSurge"], wanted, true), share(limits["maxUnavailable"], wanted, false)
	if surge == 0 && fewer == 0 {
		fewer = 1
	}
	total, ready := 0, 0
	for _, set := range old {
		total += number(mapOf(s.objects[set].body["spec"])["replicas"])
	}
	has := 0
	if current != "" {
		has = number(mapOf(s.objects[current].body["spec"])["replicas"])
	}
	for _, set := range append(slices.Clone(old), current) {
		if set != "" {
			ready += number(mapOf(s.objects[set].body["status"])["availableReplicas"])
		}
	}
	target := min(wanted, max(has, wanted+surge-total))
	if current == "" {
		s.makeSet(path, target)
	} else {
		s.scale(current, target)
	}
	for _, set := range old {
		body := s.objects[set].body
		n, alive := number(mapOf(body["spec"])["replicas"]), number(mapOf(body["status"])["availableReplicas"])
		broken := n - alive // they can go at once
		more := min(alive, max(0, ready-(wanted-fewer)))
		ready -= more
		s.scale(set, n-broken-more)
	}
}

// share returns a number, or a part of another number.
func share(v any, of int, up bool) int {
	text, isText := v.(string)
	if !isText {
		return number(v)
	}
	percent, _ := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if up {
		return (of*percent + 99) / 100
	}
	return of * percent / 100
}

// forgetSets removes old ReplicaSets without pods, except for some.
func (s *Server) forgetSets(old []string, keep int) {
	empty := slices.DeleteFunc(slices.Clone(old), func(set string) bool {
		return number(mapOf(s.objects[set].body["spec"])["replicas"]) > 0 || len(s.owned("Pod", set)) > 0
	})
	age := func(set string) string { return textOf(mapOf(s.objects[set].body["metadata"])["uid"]) }
	slices.SortFunc(empty, func(a, b string) int { return cmp.Compare(age(a), age(b)) })
	for _, set := range empty[:max(0, len(empty)-keep)] {
		s.doomAt(set, "Background")
	}
}

// tellDeployment sets the status of a Deployment.
func (s *Server) tellDeployment(path string) {
	body := s.objects[path].body
	spec := mapOf(body["spec"])
	status := map[string]any{"observedGeneration": mapOf(body["metadata"])["generation"]}
	counts := map[string]int{}
	for _, set := range s.owned("ReplicaSet", path) {
		is := mapOf(s.objects[set].body["status"])
		for _, field := range []string{"replicas", "readyReplicas", "availableReplicas"} {
			counts[field] += number(is[field])
		}
		if equal(templateOf(s.objects[set].body), mapOf(spec["template"])) {
			counts["updatedReplicas"] += number(is["replicas"])
		}
	}
	wanted := number(spec["replicas"])
	counts["unavailableReplicas"] = max(0, max(wanted, counts["replicas"])-counts["availableReplicas"])
	for field, n := range counts {
		if n > 0 {
			status[field] = int64(n)
		}
	}
	isDone := counts["updatedReplicas"] == wanted && counts["availableReplicas"] == wanted && counts["replicas"] == wanted
	progress := map[string]any{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}
	switch {
	case isDone:
		progress["reason"] = "NewReplicaSetAvailable"
	case s.Overdue:
		progress["status"], progress["reason"] = "False", "ProgressDeadlineExceeded"
	}
	available := map[string]any{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}
	if counts["availableReplicas"] >= wanted-share(mapOf(spec["strategy"], "rollingUpdate")["maxUnavailable"], wanted,
		false) {
		available["status"], available["reason"] = "True", "MinimumReplicasAvailable"
	}
	status["conditions"] = []any{available, progress}
	s.setStatus(path, status)
}

// replicate does what the controller of ReplicaSets does for one of them.
func (s *Server) replicate(path string) {
	body := s.objects[path].body
	if mapOf(body["metadata"])["deletionTimestamp"] != nil {
		return
	}
	wanted, living := number(mapOf(body["spec"])["replicas"]), s.living(path)
	for range wanted - len(living) {
		s.pods++
		s.makePod(path, textOf(mapOf(body["metadata"])["name"])+"-p"+strconv.Itoa(s.pods), mapOf(body["spec"], "template"),
			nil)
	}
	slices.SortStableFunc(living, func(a, b string) int {
		return cmp.Compare(isReady(s.objects[a].body), isReady(s.objects[b].body))
	})
	for _, pod := range living[:max(0, len(living)-wanted)] {
		s.doomAt(pod, "Background")
	}
	living = s.living(path)
	status := map[string]any{"replicas": int64(len(living)),
		"observedGeneration": mapOf(s.objects[path].body["metadata"])["generation"]}
	maps.Copy(status, s.readyOf(living))
	s.setStatus(path, status)
}

// living returns the pods of an owner that are not being deleted.
func (s *Server) living(path string) []string {
	return slices.DeleteFunc(s.owned("Pod", path), func(pod string) bool {
		return mapOf(s.objects[pod].body["metadata"])["deletionTimestamp"] != nil
	})
}

// readyOf returns the fields of a status that tell how many pods are ready.
func (s *Server) readyOf(pods []string) map[string]any {
	n := 0
	for _, pod := range pods {
		n += isReady(s.objects[pod].body)
	}
	if n == 0 {
		return nil
	}
	return map[string]any{"readyReplicas": int64(n), "availableReplicas": int64(n)}
}
