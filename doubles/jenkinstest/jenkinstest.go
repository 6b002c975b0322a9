package jenkinstest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A Build is a build of a job. It runs while its result is "".
type Build struct {
	Number int
	Result string
	Commit string // "" if the build has no changes
}

// A Server is a Jenkins. Its fields must be set before it is used.
type Server struct {
	User, Password string // who may read; "" is everybody
	// Fault answers a request in place of the server if it returns true.
	Fault func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	jobs     map[string][]Build
	requests int
}

// Add adds a build to a job. A job in a folder is named folder/job/name.
func (s *Server) Add(job string, b Build) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs == nil {
		s.jobs = map[string][]Build{}
	}
	s.jobs[job] = append([]Build{b}, s.jobs[job]...)
}

// End gives a build its result.
func (s *Server) End(job string, number int, result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.jobs[job] {
		if s.jobs[job][i].Number == number {
			s.jobs[job][i].Result = result
		}
	}
}

// Clear removes all builds of a job, as people do.
func (s *Server) Clear(job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job] = nil
}

// Requests returns how many requests there were.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// level is what a client must ask for at each level of folders, and how many builds of a job.
var level = regexp.MustCompile(
	`^jobs\[name,builds\[number,result,changeSet\[items\[commitId\]\]\](?:\{0,(\d+)\})?(?:,(jobs\[.*\]))?\]$`)

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	user, password, _ := r.BasicAuth()
	depth, most, ok := parse(r.URL.Query().Get("tree"))
	switch {
	case s.Fault != nil && s.Fault(w, r):
	case user != s.User || password != s.Password:
		http.Error(w, "Invalid password/token for user: "+user, http.StatusUnauthorized)
	case r.Method != http.MethodGet || r.URL.Path != "/api/json":
		http.NotFound(w, r)
	case !ok:
		http.Error(w, "the tree asks for something that this server does not know", http.StatusBadRequest)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.folder("", depth, most)) // nobody may be listening any more
	}
}

// parse reads the parameter tree.
func parse(tree string) (depth, most int, ok bool) {
	for most = 100; tree != ""; depth++ {
		found := level.FindStringSubmatch(tree)
		if found == nil {
			return 0, 0, false
		}
		if n, err := strconv.Atoi(found[1]); err == nil {
			most = n
		}
		tree = found[2]
	}
	return depth, most, depth > 0
}

// folder returns a folder as Jenkins tells it.
func (s *Server) folder(above string, depth, most int) map[string]any {
	jobs, seen := []any{}, map[string]bool{}
	for path := range s.jobs {
		rest, below := strings.CutPrefix(path, above)
		name, _, isDeeper := strings.Cut(rest, "/job/")
		if !below || seen[name] || depth == 0 {
			continue
		}
		seen[name] = true
		job := map[string]any{"_class": "hudson.model.FreeStyleProject", "name": name}
		if isDeeper {
			job = s.folder(above+name+"/job/", depth-1, most)
			job["_class"], job["name"] = "com.cloudbees.hudson.plugins.folder.Folder", name
		} else {
			job["builds"] = shapes(s.jobs[path], most)
		}
		jobs = append(jobs, job)
	}
	return map[string]any{"_class": "hudson.model.Hudson", "jobs": jobs}
}

func shapes(builds []Build, most int) []any {
	out := []any{}
	for _, b := range builds[:min(most, len(builds))] {
		shape := map[string]any{"_class": "hudson.model.FreeStyleBuild", "number": b.Number, "result": nil,
			"changeSet": map[string]any{"_class": "hudson.plugins.git.GitChangeSetList", "items": []any{}}}
		if b.Result != "" {
			shape["result"] = b.Result
		}
		if b.Commit != "" {
			shape["changeSet"] = map[string]any{"items": []any{map[string]any{"commitId": b.Commit}}}
		}
		out = append(out, shape)
	}
	return out
}

// String returns a build on one line.
func (b Build) String() string { return fmt.Sprintf("%d %s", b.Number, b.Result) }
