package kubetest

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// A Fate is what becomes of a pod.
type Fate int

// The fates. Lingering pods are ready, and do not end when they are deleted. Finished pods ended
// with success, as those of Jobs do.
const (
	Ready Fate = iota
	Crashing
	NoImage
	Pending
	Lingering
	Finished
)

// Settle lets the controllers and the machines of the cluster work until nothing changes.
func (s *Server) Settle() {
	for range 1000 {
		if !s.Step() {
			return
		}
	}
	panic("the controllers never come to rest")
}

// Step lets each controller and each machine work once, and reports whether anything changed.
// There are controllers of Deployments, ReplicaSets and StatefulSets, one that deletes what has
// no owner any more, and machines that run pods as [Server.Fate] says.
func (s *Server) Step() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.step()
}

func (s *Server) step() bool {
	before := s.changes
	s.collect()
	for _, path := range s.pathsOf("Deployment") {
		s.deploy(path)
	}
	for _, path := range s.pathsOf("ReplicaSet") {
		s.replicate(path)
	}
	for _, path := range s.pathsOf("StatefulSet") {
		s.keepSet(path)
	}
	for _, path := range s.pathsOf("Pod") {
		s.runPod(path)
	}
	return s.changes != before
}

// MostPods returns how many pods of a Deployment or StatefulSet were there at once, at most, since
// the server started. Pods that are being deleted count as well, and so do those of an object of
// this name that was there before.
func (s *Server) MostPods(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most[path]
}

// Pods returns the paths of the pods of a Deployment or StatefulSet, also of one that is gone.
func (s *Server) Pods(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.podsUnder(path)
}

func (s *Server) podsUnder(root string) []string {
	var out []string
	for _, pod := range s.pathsOf("Pod") {
		if s.roots[pod] == root {
			out = append(out, pod)
		}
	}
	return out
}

// pathsOf returns the paths of all objects of a kind, sorted.
func (s *Server) pathsOf(kind string) []string {
	var out []string
	for path, o := range s.objects {
		if o.body["kind"] == kind {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// owned returns the paths of the objects of a kind whose controller an object is. It first makes
// it the controller of those that fit to its selector and have none, as controllers do.
func (s *Server) owned(kind, path string) []string {
	owner := s.objects[path].body
	meta, selector := mapOf(owner["metadata"]), mapOf(owner["spec"], "selector")
	var out []string
	for _, p := range s.pathsOf(kind) {
		body := s.objects[p].body
		m := mapOf(body["metadata"])
		ref := controllerOf(body)
		fits := m["namespace"] == meta["namespace"] && selects(selector, mapOf(m["labels"])) && m["deletionTimestamp"] == nil
		if owner["kind"] == "StatefulSet" {
			name, _, _ := cutLast(textOf(m["name"]), "-")
			fits = fits && name == meta["name"]
		}
		if ref == nil && fits {
			s.change(p, func(body map[string]any) {
				dig(body, "metadata")["ownerReferences"] = append(listOf(m["ownerReferences"]), refTo(owner))
			})
			ref = refTo(owner)
		}
		if ref["uid"] == meta["uid"] {
			out = append(out, p)
		}
	}
	return out
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// controllerOf returns the owner that controls an object, nil if there is none.
func controllerOf(body map[string]any) map[string]any {
	for _, r := range listOf(mapOf(body["metadata"])["ownerReferences"]) {
		if ref := mapOf(r); ref["controller"] == true {
			return ref
		}
	}
	return nil
}

func refTo(owner map[string]any) map[string]any {
	m := mapOf(owner["metadata"])
	return map[string]any{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": m["name"], "uid": m["uid"],
		"controller": true, "blockOwnerDeletion": true}
}

// change changes an object as the inside of a cluster does: without rules and managers.
func (s *Server) change(path string, change func(body map[string]any)) {
	body := copyOf(s.objects[path].body)
	change(body)
	s.save(path, body)
}

// setStatus sets the status of an object.
func (s *Server) setStatus(path string, status map[string]any) {
	if next := copyOf(status); !equal(mapOf(s.objects[path].body["status"]), next) {
		s.change(path, func(body map[string]any) { body["status"] = next })
	}
}

// spawn makes an object that an owner controls, next to it.
func (s *Server) spawn(owner map[string]any, kind, name string, body map[string]any) string {
	namespace := textOf(mapOf(owner["metadata"])["namespace"])
	folder := map[string]string{"ReplicaSet": "/apis/apps/v1/namespaces/%s/replicasets/",
		"Pod":                   "/api/v1/namespaces/%s/pods/",
		"PersistentVolumeClaim": "/api/v1/namespaces/%s/persistentvolumeclaims/"}[kind]
	at, _ := s.parse(fmt.Sprintf(folder, namespace) + name)
	body["apiVersion"], body["kind"] = at.apiVersion, kind
	if kind != "PersistentVolumeClaim" {
		dig(body, "metadata")["ownerReferences"] = []any{refTo(owner)}
	}
	next, err := s.model(at).complete(copyOf(body))
	if err != nil {
		panic(err) // the server took the template
	}
	s.save(at.path, s.born(next, at))
	return at.path
}

// makePod makes a pod of a template.
func (s *Server) makePod(path, name string, template map[string]any, more map[string]string) {
	owner := s.objects[path].body
	body := copyOf(template)
	for label, value := range more {
		dig(dig(body, "metadata"), "labels")[label] = value
	}
	dig(body, "spec")["nodeName"] = "node"
	pod := s.spawn(owner, "Pod", name, body)
	root := path
	if owner["kind"] == "ReplicaSet" {
		root = s.roots[path]
	}
	s.roots[pod] = root
	s.most[root] = max(s.most[root], len(s.podsUnder(root)))
}

// hashOf returns a short name for a value.
func hashOf(v any) string {
	h := fnv.New32a()
	_, _ = h.Write(encode(v)) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// collect deletes what has no owner any more, and ends deletions that wait for dependents.
func (s *Server) collect() {
	uids := map[any]bool{}
	for _, o := range s.objects {
		uids[mapOf(o.body["metadata"])["uid"]] = true
	}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		o := s.objects[path]
		if o == nil {
			continue // it was removed meanwhile
		}
		m := mapOf(o.body["metadata"])
		refs := listOf(m["ownerReferences"])
		hasOwner := len(refs) == 0 || slices.ContainsFunc(refs, func(r any) bool { return uids[mapOf(r)["uid"]] })
		if !hasOwner && m["deletionTimestamp"] == nil {
			s.doomAt(path, "Background")
			continue
		}
		finalizers := listOf(m["finalizers"])
		if m["deletionTimestamp"] == nil || len(finalizers) == 0 {
			continue
		}
		s.finish(path, m["uid"], finalizers)
	}
}

// finish does what a deletion waits for.
func (s *Server) finish(path string, uid any, finalizers []any) {
	dependents := []string{}
	for p, o := range s.objects {
		if slices.ContainsFunc(listOf(mapOf(o.body["metadata"])["ownerReferences"]), func(r any) bool {
			return mapOf(r)["uid"] == uid
		}) {
			dependents = append(dependents, p)
		}
	}
	slices.Sort(dependents)
	done := "foregroundDeletion"
	if slices.Contains(finalizers, any("orphan")) {
		done = "orphan"
		for _, p := range dependents {
			s.change(p, func(body map[string]any) {
				m := dig(body, "metadata")
				m["ownerReferences"] = slices.DeleteFunc(listOf(m["ownerReferences"]), func(r any) bool {
					return mapOf(r)["uid"] == uid
				})
			})
		}
	} else if len(dependents) > 0 {
		for _, p := range dependents {
			if mapOf(s.objects[p].body["metadata"])["deletionTimestamp"] == nil {
				s.doomAt(p, "Foreground")
			}
		}
		return
	}
	s.change(path, func(body map[string]any) {
		m := dig(body, "metadata")
		if left := slices.DeleteFunc(listOf(m["finalizers"]), func(f any) bool { return f == done }); len(left) > 0 {
			m["finalizers"] = left
		} else {
			delete(m, "finalizers")
		}
	})
}

// doomAt deletes the object of a path.
func (s *Server) doomAt(path, dependents string) {
	at, _ := s.parse(path)
	if at.kind == "Pod" {
		dependents = "Background" // it has none
	}
	s.doom(at, dependents)
}
