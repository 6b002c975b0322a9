package kubetest

import "slices"

// doom deletes an object, or lets it wait for what must happen before.
func (s *Server) doom(at place, dependents string) {
	body := copyOf(s.objects[at.path].body)
	m := dig(body, "metadata")
	if at.kind == "Namespace" {
		if !s.Finalizing {
			s.remove(at.path)
			return
		}
		dig(body, "status")["phase"] = "Terminating"
	}
	finalizers := listOf(m["finalizers"])
	if name := map[string]string{"Foreground": "foregroundDeletion", "Orphan": "orphan"}[dependents]; name != "" &&
		!slices.Contains(finalizers, any(name)) {
		finalizers = append(finalizers, name)
	}
	if at.kind != "Namespace" && at.kind != "Pod" && len(finalizers) == 0 {
		s.remove(at.path)
		return
	}
	if m["deletionTimestamp"] == nil {
		m["deletionTimestamp"] = "2026-01-02T00:00:00Z"
		if at.kind != "Namespace" {
			m["deletionGracePeriodSeconds"] = int64(0)
		}
		if hasGeneration[at.kind] {
			n, _ := m["generation"].(int64)
			m["generation"] = n + 1
		}
	}
	if len(finalizers) > 0 {
		m["finalizers"] = finalizers
	}
	s.save(at.path, body)
}
