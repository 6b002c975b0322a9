//go:build !race

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A plant is a cluster with pipelines, saas files, and a bucket for the state.
type plant struct {
	real   *kubetest.Real
	dir    string
	world  *saastest.World
	heads  map[string]map[string]string
	bucket string   // folder that versitygw serves as a bucket
	env    []string // how programs reach the bucket
	names  []string // of the saas files
	// changed is the revision in which what a cell deploys changed last, by cell and kind.
	changed map[string]map[string]int
	at      int // revision of the data
	doom    *doom
}

// dataRepository is the address that reasons have before the commit of the data.
const dataRepository = "https://git.test/data"

// revisionOf returns the commit of a revision of the data.
func revisionOf(n int) string { return fmt.Sprintf("%040x", n) }

// newPlant starts a cluster and a bucket.
func newPlant(t *testing.T, files int, random *rand.Rand) *plant {
	t.Helper()
	p := &plant{doom: &doom{random: random, running: map[*exec.Cmd]bool{}}, real: kubetest.Start(t), dir: t.TempDir(),
		world: saastest.Large(files, 4*files), heads: map[string]map[string]string{}, changed: map[string]map[string]int{}}
	p.serveBucket(t)
	p.real.AddTekton(t)
	cluster := p.doom.guard(t, p.real.URL, true)
	for path, f := range p.world.Data {
		if strings.HasPrefix(path, "/clusters/") {
			f["serverUrl"], f["insecureSkipTLSVerify"] = cluster, true
			p.write(t, fmt.Sprintf("secrets/app/cluster/%s/token", f["name"]), p.real.Token("admin"))
		}
	}
	schemas := map[string]bool{}
	for _, f := range p.world.Data {
		schemas[f["$schema"].(string)] = true
	}
	p.world.Data["/integrations/loop.yml"] = datafile{"$schema": "/app-sre/integration-1.yml", "name": pipelines.Name,
		"description": "x",
		"upstream":    "https://git.test/prcheck", "schemas": slices.Sorted(maps.Keys(schemas)),
		"pr_check": datafile{"cmd": pipelines.Name}}
	for i := range files {
		name := fmt.Sprintf("app-%03d", i)
		p.names = append(p.names, name)
		p.real.AddPipeline(t, name+"-production", "o-openshift-saas-deploy-"+name)
		p.heads["https://github.com/acme/"+name] = map[string]string{"main": revisionOf(1)}
		for j := range 2 {
			stage := p.world.Target(saasPath(name), j, 0)
			delete(stage, "upstream")
			delete(stage, "images")
			delete(p.world.Target(saasPath(name), j, 1), "promotion") // its gate would ask for records
		}
	}
	p.publish(t)
	return p
}

func saasPath(name string) string { return "/services/" + name + "/saas.yml" }

// serveBucket starts versitygw over a folder. The test is skipped if PRCHECK_VERSITYGW does not
// name the program.
func (p *plant) serveBucket(t *testing.T) {
	t.Helper()
	program := os.Getenv("PRCHECK_VERSITYGW")
	if program == "" {
		t.Skip("PRCHECK_VERSITYGW names no versitygw")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close() // versitygw takes the port
	p.bucket = filepath.Join(p.dir, "s3", "state")
	for _, dir := range []string{p.bucket, filepath.Join(p.dir, "sidecar")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "--access", "access", "--secret", "secret-of-the-store", "--region", "us-east-1", "--port", address, //nolint:noctx // it ends with the test
		"posix", "--sidecar", filepath.Join(p.dir, "sidecar"), filepath.Join(p.dir, "s3"))
	cmd.Dir = p.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it runs until then
		_ = cmd.Wait()         // it was killed
	})
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil { //nolint:noctx // on this machine
			_ = c.Close() // it answers
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "HEADS=" + filepath.Join(p.dir, "heads.json"),
		"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret-of-the-store", "AWS_REGION=us-east-1",
		"AWS_ENDPOINT_URL=" + p.doom.guard(t, "http://"+address, false)}
}

// write writes a file at once, so that nobody reads half of it.
func (p *plant) write(t *testing.T, name, text string) { (&fleet{dir: p.dir}).write(t, name, text) }

// change changes the data, or a branch, of a saas file. No value comes back.
func (p *plant) change(t *testing.T, file, what int) {
	t.Helper()
	p.at++
	name := p.names[file%len(p.names)]
	switch env := what % 3; env {
	case 0, 1: // one environment
		target := p.world.Target(saasPath(name), what/3%2, env)
		target["parameters"].(map[string]any)["VERSION"] = p.at
		p.note(name, []string{"stage", "production"}[env], "config")
	default:
		p.heads["https://github.com/acme/"+name]["main"] = revisionOf(p.at)
		p.note(name, "stage", "commit")
	}
	p.publish(t)
}

func (p *plant) note(name, env, kind string) {
	cell := name + "/" + env
	if p.changed[cell] == nil {
		p.changed[cell] = map[string]int{}
	}
	p.changed[cell][kind] = p.at
}

// publish writes the data and the branches.
func (p *plant) publish(t *testing.T) {
	t.Helper()
	var bundle map[string]any
	mustDecode(t, p.world.Bundle(t), &bundle)
	bundle["git_commit"], bundle["git_commit_timestamp"] = revisionOf(p.at), strconv.Itoa(1_700_000_000+p.at)
	bundle["schemas"] = map[string]any{}
	for name, value := range map[string]any{"heads.json": p.heads, "bundle.json": bundle} {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		p.write(t, name, string(raw))
	}
	p.write(t, "prcheck.yaml",
		fmt.Sprintf("version: 1\nstate: {trust: bucket}\nsecrets:\n  files: {folder: %s}\nintegrations:\n  %s:\n    settings: {trace: true, repository: %q, retry: {max: 50, backoff: 0s}}\n",
			filepath.Join(p.dir, "secrets"), pipelines.Name, dataRepository))
}

// command returns the command that makes one round of the loop.
func (p *plant) command(t *testing.T, more ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"run", pipelines.Name, "--bundle", "bundle.json", "--config", "prcheck.yaml", "--state",
		"s3://state/loop", "--format", "json", "--allow-older", "--no-cache", "--wait", "1s"}, more...)
	cmd := exec.Command(script.Program(t, "pipeliner"), args...) //nolint:gosec,noctx // the program that is tested
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// forgetLeases removes the leases of processes that were killed, as if their time were over. So
// two loops run at once. The store keeps what it knows of an object beside the object.
func (p *plant) forgetLeases(t *testing.T) {
	t.Helper()
	var all []string
	for _, dir := range []string{"s3", "sidecar"} {
		err := filepath.WalkDir(filepath.Join(p.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "leases" {
				all = append(all, path)
			}
			return nil // what vanishes meanwhile is no matter
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, dir := range all {
		_ = os.RemoveAll(dir) // the other loop may be writing a lease, which then stays
	}
}

// A pipelineRun is a run as the cluster shows it.
type pipelineRun struct {
	Metadata struct {
		Name, Namespace     string
		Labels, Annotations map[string]string
	}
	Status struct {
		Conditions []struct{ Status string }
	}
}

func (r pipelineRun) cell() string {
	return r.Metadata.Labels["qontract.saas_file_name"] + "/" + r.Metadata.Labels["qontract.env_name"]
}

func (r pipelineRun) status() string {
	if len(r.Status.Conditions) == 0 {
		return ""
	}
	return r.Status.Conditions[0].Status
}

func (r pipelineRun) isLive() bool { return r.status() == "" || r.status() == "Unknown" }

// runs returns all runs of the cluster, sorted by name.
func (p *plant) runs() ([]pipelineRun, error) {
	code, raw, err := p.list()
	if err != nil || code != http.StatusOK {
		return nil, errors.Join(err, fmt.Errorf("status %d", code))
	}
	var list struct{ Items []pipelineRun }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b pipelineRun) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return list.Items, nil
}

// reasonsOf returns the newest revision for each kind of the reasons of a run.
func (r pipelineRun) reasonsOf(t *testing.T) map[string]int {
	t.Helper()
	var reasons []struct{ Kind, Text string }
	mustDecode(t, []byte(r.Metadata.Annotations["qontract.trigger_reasons"]), &reasons)
	out := map[string]int{}
	for _, reason := range reasons {
		_, commit, _ := strings.Cut(reason.Text, "/commit/")
		n, err := strconv.ParseInt(commit, 16, 64)
		if err != nil {
			t.Errorf("run %s has the reasons %s", r.Metadata.Name, r.Metadata.Annotations["qontract.trigger_reasons"])
		}
		out[reason.Kind] = max(out[reason.Kind], int(n))
	}
	return out
}

// cells returns the cells of the data, sorted.
func (p *plant) cells() []string { return slices.Sorted(maps.Keys(p.changed)) }
