//go:build !race

package main

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/internal/script"
)

// small adds a few integrations of each kind to two namespaces.
func (in *installation) small() {
	for _, name := range []string{"red", "green", "blue"} {
		in.addAccount(name)
	}
	in.define("by-account", 0, datafile{}, datafile{"strategy": "per-aws-account"})
	in.define("by-number", 1, datafile{}, datafile{"strategy": "static", "shards": 2})
	in.define("job", 1, datafile{"cron": "10 * * * *"}, nil)
	in.define("cache", 1, datafile{"cache": true}, nil)
}

// change changes what small added: something is made, changed, deleted and moved.
func (in *installation) change() {
	in.addAccount("lake")
	delete(in.data, "/accounts/red.yml")
	in.entry("job")["spec"].(datafile)["cron"] = "20 * * * *"
	in.entry("cache")["spec"].(datafile)["extraArgs"] = "--threads 7"
}

// A dry run with the account that can only read sends nothing but get and list, and says what the
// run after it does.
func TestRealManagerDryRun(t *testing.T) {
	in := newInstallation(t, 2)
	in.small()
	in.checkDryRun(t, "read", 8+2)
	in.change()
	in.checkDryRun(t, "read", 4)
	if all := in.sent(t, "read"); len(all["get"])+len(all["list"]) == 0 {
		t.Error("the dry runs asked nothing")
	} else {
		for _, q := range slices.Concat(all["get"], all["list"]) {
			if q.Code != http.StatusOK {
				t.Errorf("a dry run sent %s", q)
			}
		}
	}
}

// checkDryRun checks that a dry run writes nothing, and that the run after it does the same.
func (in *installation) checkDryRun(t *testing.T, account string, want int) {
	t.Helper()
	in.publish(t, "next")
	before := in.sent(t, account)
	dry := in.run(t, command{bundle: "next", account: account, more: []string{"--state", "state"}})
	sent := in.sent(t, account).since(before)
	for verb, all := range sent {
		for _, q := range all {
			if verb != "get" && verb != "list" && !(verb == "patch" && q.Dry && account == "write") {
				t.Errorf("a dry run sent %s", q)
			}
		}
	}
	if tried := len(sent["patch"]); account == "write" && tried == 0 {
		t.Errorf("a dry run tried nothing: %s", sent.count())
	}
	wet := in.mustRun(t, command{bundle: "next", more: []string{"--no-dry-run", "--state", "state"}})
	if dry.Outcome != "done" || !slices.Equal(dry.actions(), wet.actions()) || len(dry.Steps) != want {
		t.Errorf("the dry run said\n%s\n%v\nthe run did\n%s\nwant %d steps", strings.Join(dry.actions(), "\n"), dry,
			strings.Join(wet.actions(), "\n"), want)
	}
}

// With server_dry_run the cluster is asked what it would do, and keeps nothing.
func TestRealManagerTrial(t *testing.T) {
	in := newInstallation(t, 2)
	in.keys = "    server_dry_run: true\n"
	in.small()
	in.checkDryRun(t, "write", 8+2)
	in.change()
	in.checkDryRun(t, "write", 4)
	// more than the limit
	in.entry("by-account")["spec"].(datafile)["resources"].(datafile)["requests"].(datafile)["memory"] = "900Mi"
	r := in.run(t, command{account: "write", more: []string{"--state", "state"}})
	if r.Outcome != "failed" || !strings.Contains(r.String(), "must be less than or equal to memory limit") {
		t.Errorf("a dry run says %v", r)
	}
}

// A listener is an API server of somebody else, which counts requests.
func listener(t *testing.T) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = &atomic.Int32{}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// addCluster adds a cluster with a namespace and an integration. The secret of its token names a
// server.
func (in *installation) addCluster(t *testing.T, url, server string) {
	t.Helper()
	for _, account := range []string{"read", "write"} {
		in.write(t, filepath.Join("secrets-"+account, "kube", "east", "token"), "a-secret-token")
		in.write(t, filepath.Join("secrets-"+account, "kube", "east", "server"), server)
	}
	in.data["/clusters/east.yml"] = datafile{"$schema": "/openshift/cluster-1.yml", "name": "east", "serverUrl": url,
		"insecureSkipTLSVerify": true, "automationToken": datafile{"path": "kube/east", "field": "token"}}
	in.data["/namespaces/int-99.yml"] = datafile{"$schema": "/openshift/namespace-1.yml", "name": "int-99",
		"cluster": refTo("/clusters/east.yml"), "environment": refTo("/environments/production.yml")}
	in.define("far", 99, datafile{}, nil)
}

// A token goes only to the address in its own secret. All other clusters are kept.
func TestRealManagerOtherServer(t *testing.T) {
	in := newInstallation(t, 2)
	in.small()
	url, requests := listener(t)
	in.addCluster(t, url, "https://api.example.com:6443")
	for _, more := range [][]string{nil, {"--no-dry-run", "--state", "state"}} {
		r := in.run(t, command{more: more})
		if r.Outcome != "failed" || !strings.Contains(r.String(), "https://api.example.com:6443") ||
			!strings.Contains(r.String(), url) {
			t.Errorf("it says %v", r)
		}
		if strings.Contains(r.String()+r.log, "a-secret-token") {
			t.Error("the token is shown")
		}
		if n := len(r.Steps); n != 8+2 {
			t.Errorf("%d steps on the other cluster: %v", n, r)
		}
	}
	if n := requests.Load(); n > 0 {
		t.Errorf("the server got %d requests", n)
	}
	in.write(t, filepath.Join("secrets-write", "kube", "east", "server"), url)
	if r := in.run(t, command{more: []string{"--no-dry-run", "--state", "state"}}); requests.Load() == 0 {
		t.Errorf("the server got no request with its own address: %v", r)
	}
}

// In a merge request a cluster that only head has is rendered and gets no request, whatever its
// secret says.
func TestRealManagerNewCluster(t *testing.T) {
	in := newInstallation(t, 2)
	in.small()
	in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	in.publish(t, "base")
	url, requests := listener(t)
	in.addCluster(t, url, url)
	in.addAccount("lake")
	in.publish(t, "head")
	before := in.sent(t, "read")
	cmd := exec.Command(script.Program(t, "runner"), "precheck", "--base", "base.json", "--head", "head.json", "--config", "base-read.yaml", //nolint:noctx // ends by itself
		"--plan", "plan.json", "--out", "results.json", "--logs", "logs")
	cmd.Dir, cmd.Env = in.dir, in.command(t, command{bundle: "head"}).Env
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"NEW_TARGET", "by-account-lake", "east/int-99"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the check does not say %q", want)
		}
	}
	if n := requests.Load(); n > 0 || err != nil {
		t.Errorf("%v: the new cluster got %d requests", err, n)
	}
	sent := in.sent(t, "read").since(before)
	if w := sent.writes(); len(w) > 0 || len(sent["list"]) == 0 {
		t.Errorf("the check sent %s", sent.count())
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
