package kubetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A place is what a path names: one object or, without a name, all objects of a resource.
type place struct {
	apiVersion, group, resource, kind string
	namespace, name                   string
	path                              string
}

// parse returns what a path names; false if the server does not know the resource.
func (s *Server) parse(path string) (place, bool) {
	words := strings.Split(strings.TrimPrefix(path, "/"), "/")
	at := place{path: path}
	switch {
	case len(words) >= 3 && words[0] == "api":
		at.apiVersion, words = words[1], words[2:]
	case len(words) >= 4 && words[0] == "apis":
		at.group, at.apiVersion, words = words[1], words[1]+"/"+words[2], words[3:]
	default:
		return at, false
	}
	if words[0] == "namespaces" && len(words) > 2 {
		at.namespace, words = words[1], words[2:]
	}
	at.resource, at.kind = words[0], s.Kinds[words[0]]
	if len(words) == 2 {
		at.name = words[1]
	}
	return at, at.kind != "" && len(words) <= 2
}

// serve answers a request, or goes wrong as [Server.Fail] says.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	fault := &Fault{}
	s.mu.Lock()
	ask := s.fault
	s.mu.Unlock()
	if ask != nil {
		if f := ask(r); f != nil {
			fault = f
		}
	}
	if fault.Delay > 0 {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(fault.Delay):
		}
	}
	answer := httptest.NewRecorder()
	if fault.Status != 0 {
		answer.Header().Set("Retry-After", fault.After)
		answer.WriteHeader(fault.Status)
		_, _ = io.WriteString(answer, fault.Body)
		s.note(r, fault.Status)
	} else {
		s.answer(answer, r)
	}
	if fault.Lost {
		panic(http.ErrAbortHandler) // the way to drop a connection
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	body := answer.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.Code)
	if fault.Cut {
		body = body[:len(body)/2]
	}
	_, _ = w.Write(body)
}

// note adds a request to the list of requests.
func (s *Server) note(r *http.Request, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete",
		http.MethodPut: "update"}[r.Method]
	if r.Method == http.MethodGet {
		verb = "get"
		if at, _ := s.parse(r.URL.Path); at.name == "" {
			verb = "list"
		}
	}
	s.requests = append(s.requests, Request{verb, r.URL.Path, code, isDry(r)})
}

// answer does what a request asks for.
func (s *Server) answer(w *httptest.ResponseRecorder, r *http.Request) {
	defer func() { s.note(r, w.Code) }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, place{}, http.StatusBadRequest, "BadRequest", err.Error(), nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Working {
		s.step()
	}
	at, known := s.parse(r.URL.Path)
	of, isScale := s.scaled(r.URL.Path)
	switch {
	case r.Header.Get("Authorization") == "Bearer "+s.Nobody && known:
		refuseRole(w, r, at)
	case r.Header.Get("Authorization") != "Bearer "+s.Token:
		refuse(w, at, http.StatusUnauthorized, "Unauthorized", "Unauthorized", nil)
	case s.discover(w, r):
	case isScale:
		s.answerScale(w, r, of, body)
	case r.Method == http.MethodGet && s.Logs[strings.TrimSuffix(r.URL.Path, "/log")] != "" &&
		strings.HasSuffix(r.URL.Path, "/log"):
		_, _ = io.WriteString(w, s.Logs[strings.TrimSuffix(r.URL.Path, "/log")])
	case !known:
		http.Error(w, "404 page not found", http.StatusNotFound)
	case r.Method == http.MethodGet && at.name == "":
		s.list(w, r, at)
	case r.Method == http.MethodPost && at.name == "":
		s.create(w, r, at, body)
	case r.Method == http.MethodPatch && at.name != "":
		s.patch(w, r, at, body)
	case s.objects[at.path] == nil && (r.Method == http.MethodGet || r.Method == http.MethodDelete) && at.name != "":
		refuse(w, at, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", at.resource, at.name), nil)
	case r.Method == http.MethodGet:
		_, _ = w.Write(s.objects[at.path].raw)
	case r.Method == http.MethodDelete && at.name != "":
		s.delete(w, r, at, body)
	default:
		refuse(w, at, http.StatusMethodNotAllowed, "MethodNotAllowed",
			"the server does not allow this method on the requested resource", nil)
	}
}

// refuse answers with a status object.
func refuse(w http.ResponseWriter, at place, code int, reason, message string, causes []any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	status := map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": reason, "code": code,
		"details": map[string]any{"name": at.name, "group": at.group, "kind": at.resource, "causes": causes}}
	if reason == "" {
		delete(status, "reason")
	}
	_, _ = w.Write(encode(status))
}

// list answers with one page of a list. All pages show the same objects.
func (s *Server) list(w http.ResponseWriter, r *http.Request, at place) {
	query := r.URL.Query()
	rest, version := []string{}, strconv.Itoa(s.version)
	if token := query.Get("continue"); token != "" {
		left, ok := s.pages[token]
		if !ok {
			refuse(w, at, http.StatusGone, "Expired", "The provided continue parameter is too old", nil)
			return
		}
		version, _, _ = strings.Cut(token, "-")
		rest = left
	} else {
		for path, o := range s.objects {
			is, _ := s.parse(path)
			fits, err := matches(o.body, query.Get("labelSelector"))
			if err != nil {
				refuse(w, at, http.StatusBadRequest, "BadRequest", err.Error(), nil)
				return
			}
			if fits && is.resource == at.resource && is.apiVersion == at.apiVersion &&
				(at.namespace == "" || at.namespace == is.namespace) {
				rest = append(rest, path+"\n"+string(o.item))
			}
		}
		slices.Sort(rest)
	}
	next := ""
	page := rest
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && len(rest) > limit {
		page = rest[:limit]
		next = fmt.Sprintf("%s-%d", version, len(s.pages)+1)
		s.pages[next] = rest[limit:]
	}
	items := make([]string, len(page))
	for i, line := range page {
		_, items[i], _ = strings.Cut(line, "\n")
	}
	_, _ = fmt.Fprintf(w,
		`{"kind": %q, "apiVersion": %q, "metadata": {"resourceVersion": %q, "continue": %q}, "items": [%s]}`,
		at.kind+"List", at.apiVersion, version, next, strings.Join(items, ","))
}

// isDry reports whether the server keeps nothing of a request.
func isDry(r *http.Request) bool { return slices.Contains(r.URL.Query()["dryRun"], "All") }

// matches reports whether the labels of an object fit to a selector such as a=b,c!=d,e,!f.
func matches(body map[string]any, selector string) (bool, error) {
	labels := mapOf(body["metadata"], "labels")
	for term := range strings.SplitSeq(selector, ",") {
		key, want, hasWant := strings.Cut(term, "=")
		key, isNot := strings.CutSuffix(key, "!")
		if !hasWant {
			key, isNot = strings.CutPrefix(term, "!")
		}
		if strings.ContainsAny(key, " ()") {
			return false, fmt.Errorf("this server knows no selector such as %q", term)
		}
		value, has := labels[key]
		fits := has && (!hasWant || value == strings.TrimPrefix(want, "="))
		if term != "" && fits == isNot {
			return false, nil
		}
	}
	return true, nil
}
