package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/runner/submit/jobs"
)

// A smallCluster is a Kubernetes that runs the pods of Jobs as processes. What it
// needs of the script it takes at once, since its pods run beside the script.
type smallCluster struct {
	ts     *testscript.TestScript
	dir    string // of the script
	bin    string // where the programs are
	env    []string
	lost   string // the index whose pod is lost
	mu     sync.Mutex
	jobs   map[string]*jobs.Manifest
	log    []string // what it was asked
	story  []string // what became of the Jobs
	pods   sync.WaitGroup
	denied bool
}

// cluster runs starts a cluster and lets kubectl's variables lead to it; cluster
// loses INDEX one that loses a pod, cluster hangs one whose pods never end, and
// cluster refuses one that refuses. cluster log FILE writes what it was asked, and
// cluster story FILE what became of the Jobs.
func cluster(ts *testscript.TestScript, _ bool, args []string) {
	last := ts.Value(clusterKey{}).(*lastCluster)
	c := last.smallCluster
	if args[0] == "log" || args[0] == "story" {
		c.mu.Lock()
		defer c.mu.Unlock()
		lines := map[string][]string{"log": c.log, "story": c.story}[args[0]]
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		return
	}
	c = &smallCluster{ts: ts, dir: ts.MkAbs("."), bin: filepath.SplitList(ts.Getenv("PATH"))[0],
		denied: args[0] == "refuses", jobs: map[string]*jobs.Manifest{}}
	last.smallCluster = c
	for _, name := range []string{"PATH", "HOME", "GORACE", "PRCHECK_DEBUG", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		c.env = append(c.env, name+"="+ts.Getenv(name))
	}
	switch args[0] {
	case "loses":
		c.lost = args[1]
	case "hangs":
		c.lost = "all"
	}
	h := httptest.NewServer(c)
	ts.Defer(func() { h.Close(); c.pods.Wait() })
	config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "x",
"clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "u", "user": {"token": "cluster-token"}}],
"contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "checks"}}]}`, h.URL)
	file := ts.MkAbs("kubeconfig")
	ts.Check(os.WriteFile(file, []byte(config), 0o600))
	ts.Setenv("KUBECONFIG", file)
}

// A lastCluster is the one that a script has started last.
type lastCluster struct{ *smallCluster }

type clusterKey struct{}

func (c *smallCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, r.Method+" "+r.URL.Path)
	job := c.jobs[path.Base(r.URL.Path)]
	status, answer := http.StatusOK, any(job)
	fail := func(code int, reason string) {
		status, answer = code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
			"code": code, "message": reason}
	}
	switch {
	case c.denied:
		fail(http.StatusForbidden, "Forbidden")
		answer.(map[string]any)["message"] = `jobs.batch is forbidden: User "system:serviceaccount:checks:default" cannot create resource "jobs" in API group "batch" in the namespace "checks"`
	case r.Method == http.MethodPost:
		job = &jobs.Manifest{}
		if err := json.NewDecoder(r.Body).Decode(job); err != nil {
			fail(http.StatusBadRequest, "BadRequest")
			break
		}
		if c.jobs[job.Name] != nil {
			c.mark("asked-" + job.Name)
			fail(http.StatusConflict, "AlreadyExists")
			break
		}
		answer = job
		c.jobs[job.Name] = job
		c.story = append(c.story, "created "+job.Name)
		if c.lost != "all" {
			c.run(job)
		}
		c.mark("created-" + job.Name)
	case job == nil:
		fail(http.StatusNotFound, "NotFound")
	case r.Method == http.MethodDelete:
		delete(c.jobs, job.Name)
		c.story = append(c.story, "removed "+job.Name)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// mark makes a file that a script may wait for.
func (c *smallCluster) mark(name string) {
	c.ts.Check(os.WriteFile(filepath.Join(c.dir, name), nil, 0o600))
}

// run starts the pods; the Job has ended when they have.
func (c *smallCluster) run(is *jobs.Manifest) {
	job := *is
	var each sync.WaitGroup
	failed := make([]bool, job.Spec.Completions)
	for i := range failed {
		each.Go(func() { failed[i] = c.pod(&job, strconv.Itoa(i)) != nil })
	}
	c.pods.Go(func() {
		each.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		end := jobs.Condition{Type: "Complete", Status: "True"}
		if slices.Contains(failed, true) {
			end.Type, end.Reason, end.Message = "Failed", "FailedIndexes", "Job has failed indexes"
		}
		is.Status.Conditions = []jobs.Condition{end}
		c.story = append(c.story, "ended "+job.Name)
	})
}

// pod runs one part in a folder of its own, which is /work there.
func (c *smallCluster) pod(job *jobs.Manifest, index string) error {
	if index == c.lost {
		return fmt.Errorf("its machine is gone")
	}
	container := job.Spec.Template.Spec.Containers[0]
	dir := filepath.Join(c.dir, "pod-"+job.Name+"-"+index)
	c.ts.Check(os.MkdirAll(dir, 0o750))
	words := slices.Concat(container.Command, container.Args)
	for i := range words {
		words[i] = strings.NewReplacer("$(JOB_COMPLETION_INDEX)", index, "/work/", dir+"/").Replace(words[i])
	}
	cmd := exec.Command(filepath.Join(c.bin, words[0]), words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(c.env), "JOB_COMPLETION_INDEX="+index)
	out, err := cmd.CombinedOutput()
	_ = os.WriteFile(filepath.Join(dir, "said"), out, 0o600)
	return err
}
