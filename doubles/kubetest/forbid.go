package kubetest

import (
	"fmt"
	"net/http"
	"strconv"
)

// resourceName returns the plural name of a resource with its group.
func (at place) resourceName() string {
	if at.group == "" {
		return at.resource
	}
	return at.resource + "." + at.group
}

// forbid answers that a request is forbidden, in the words of a real server.
func forbid(w http.ResponseWriter, at place, why string, causes ...any) {
	name := ""
	if at.name != "" {
		name = " " + strconv.Quote(at.name)
	}
	refuse(w, at, http.StatusForbidden, "Forbidden", at.resourceName()+name+" is forbidden: "+why, causes)
}

// refuseRole answers that no role allows a request of the user "nobody".
func refuseRole(w http.ResponseWriter, r *http.Request, at place) {
	verb := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch", http.MethodPut: "update",
		http.MethodDelete: "delete", http.MethodGet: "get"}[r.Method]
	if verb == "get" && at.name == "" {
		verb = "list"
	}
	where := "at the cluster scope"
	namespace := at.namespace
	if at.resource == "namespaces" {
		namespace = at.name
	}
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	forbid(w, at, fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", "nobody", verb, at.resource, at.group,
		where))
}

// admit asks policies and quotas about an object that is to be made, and answers if one of them
// forbids it.
func (s *Server) admit(w http.ResponseWriter, at place, next map[string]any) bool {
	if s.Deny != nil {
		if why := s.Deny(next); why != "" {
			forbid(w, at, why, map[string]any{"message": why})
			return false
		}
	}
	what := "count/" + at.resourceName()
	for _, path := range s.pathsOf("ResourceQuota") {
		quota := s.objects[path].body
		limit, has := mapOf(quota["spec"], "hard")[what]
		if is, _ := s.parse(path); !has || is.namespace != at.namespace {
			continue
		}
		used := 0
		for other := range s.objects {
			if is, _ := s.parse(other); is.namespace == at.namespace && is.resource == at.resource {
				used++
			}
		}
		if most, err := strconv.Atoi(fmt.Sprint(limit)); err == nil && used >= most {
			forbid(w, at, fmt.Sprintf("exceeded quota: %s, requested: %s=1, used: %s=%d, limited: %s=%d",
				mapOf(quota["metadata"])["name"], what, what, used, what, most))
			return false
		}
	}
	return true
}
