//go:build !race

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
)

// The test kills reconciler run at random moments while two instances deploy integrations of
// two upstreams to one cluster with its controllers, and the data change. PRCHECK_KILLS says how
// often; PRCHECK_SEED repeats a run.

// An instance is a manager of one upstream, with the data that it has seen last.
type instance struct {
	*installation
	upstream string
	revision int
	sent     int             // requests of its account so far
	before   map[string]bool // paths that the last data wanted
	wanted   map[string]bool // paths that the data want
}

// lastRevision is the revision of the data in the end.
const lastRevision = 1000

// setRevision sets the data of a revision: accounts come and go, the number of static shards, the
// image, the kind of an object and the canary change, and an entry says delete: true.
func (in *installation) setRevision(upstream string, r int) {
	at := func(n int) bool { return r/n%2 == 0 }
	maps.DeleteFunc(in.data, func(path string, _ datafile) bool { return strings.HasPrefix(path, "/accounts/") })
	for i := range 2 + r%3 {
		in.addAccount(fmt.Sprintf("account-%d", i))
	}
	in.data["/environments/production.yml"]["parameters"].(datafile)["IMAGE_TAG"] = fmt.Sprintf("tag-%d", r/4)
	for i, of := range []string{"north", "south"} {
		in.define(of+"-by-account", i, datafile{}, datafile{"strategy": "per-aws-account"})
		in.define(of+"-by-number", i, datafile{"extraArgs": fmt.Sprintf("--revision %d", r/2)},
			datafile{"strategy": "static", "shards": 2 + r/2%2})
		in.define(of+"-cache", i, datafile{"cache": at(3)}, nil)
		in.define(of+"-job", i, datafile{"cron": fmt.Sprintf("%d * * * *", r%60)}, nil)["delete"] = !at(5)
		for _, name := range []string{"by-account", "by-number", "cache", "job"} {
			in.data["/integrations/"+of+"-"+name+".yml"]["upstream"] = of
		}
	}
	in.data["/integrations/"+managerName+".yml"]["upstream"] = "north"
	in.settings = fmt.Sprintf("{upstream: %s, canary: {%s-by-account: [account-%d]}}", upstream, upstream, r%2)
}

// next gives an instance the data of a revision.
func (i *instance) next(t *testing.T, revision int) {
	t.Helper()
	i.setRevision(i.upstream, revision)
	i.revision, i.before, i.wanted = revision, i.wanted, map[string]bool{}
	for _, o := range i.rendered(t, i.upstream) {
		if _, path := pathOfObject(o); o["spec"] != nil {
			i.wanted[path] = true
		}
	}
}

// kill runs an instance and kills it a little later. It reports whether it came in time. Half of
// the runs have a state, whose leases are taken away, as if their time were over.
func (i *instance) kill(t *testing.T, random *rand.Rand) bool {
	more := []string{"--no-dry-run"}
	if random.IntN(2) == 0 {
		place := filepath.Join(i.dir, "state-"+i.upstream)
		if err := os.RemoveAll(filepath.Join(place, "leases")); err != nil {
			t.Error(err)
		}
		more = append(more, "--state", place)
	}
	cmd := i.command(t, command{bundle: i.upstream, more: more})
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return true
	}
	after := 200*time.Millisecond + time.Duration(random.ExpFloat64()*800)*time.Millisecond
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer timer.Stop()
	_ = cmd.Wait() // it was killed
	return !cmd.ProcessState.Exited()
}

// Kills at random moments and two instances: no process ever runs twice, nothing that the data
// want is deleted, and in the end everything is as after a run that nobody killed.
func TestRealManagerKills(t *testing.T) {
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("PRCHECK_KILLS"), "12"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("PRCHECK_SEED"), strconv.FormatInt(time.Now().UnixNano(), 10)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills with PRCHECK_SEED=%d", kills, seed)
	in := newInstallation(t, 2)
	in.keys = "    deletes: {percent: 90, floor: 20}\n"
	in.real.Control(t)
	machines := in.real.RunPods(t, nil)
	both := in.instances()
	ended := make(chan struct{})
	var watching, working sync.WaitGroup
	watching.Go(func() { in.watchPods(t, ended) })
	for n, i := range both {
		random := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // repeatable
		working.Go(func() {
			runs := 0
			for done := 0; done < kills/len(both); runs++ {
				if random.IntN(3) > 0 {
					i.next(t, i.revision+1)
				}
				if i.kill(t, random) {
					done++
				}
				i.checkDeleted(t)
			}
			t.Logf("%s: %d of %d runs were killed, up to revision %d", i.upstream, kills/len(both), runs, i.revision)
		})
	}
	working.Wait()
	in.converge(t, both)
	close(ended)
	watching.Wait()
	killed := in.snapshot(t)
	in.checkMost(t, machines, killed)

	in.clear(t, killed)
	in.converge(t, both)
	if quiet := in.snapshot(t); !maps.Equal(killed, quiet) {
		for path := range quiet {
			if killed[path] != quiet[path] {
				t.Errorf("%s is after kills\n%s\nand without them\n%s", path, killed[path], quiet[path])
			}
		}
		t.Errorf("after kills there are %q", slices.Sorted(maps.Keys(killed)))
	}
}

// instances returns the two instances.
func (in *installation) instances() []*instance {
	var out []*instance
	for _, upstream := range []string{"north", "south"} {
		own := *in
		own.data = maps.Clone(in.data)
		own.data["/environments/production.yml"] = maps.Clone(in.data["/environments/production.yml"])
		own.data["/environments/production.yml"]["parameters"] = maps.Clone(at(in.data["/environments/production.yml"],
			"parameters"))
		own.data["/integrations/"+managerName+".yml"] = maps.Clone(in.data["/integrations/"+managerName+".yml"])
		out = append(out, &instance{installation: &own, upstream: upstream, revision: -1})
	}
	return out
}

// checkDeleted checks that nothing was deleted that both the data before and the data now want.
func (i *instance) checkDeleted(t *testing.T) {
	t.Helper()
	all := i.real.Audit(t, i.users["write"])
	for _, q := range all[i.sent:] {
		if q.Verb == "delete" && q.Code < 300 && strings.Contains(q.Path, "reconcile-"+i.upstream) && i.before[q.Path] &&
			i.wanted[q.Path] {
			t.Errorf("%s, which the data want, in revision %d", q, i.revision)
		}
	}
	i.sent = len(all)
}

// converge runs both instances with the last data until they have nothing to do.
func (in *installation) converge(t *testing.T, both []*instance) {
	t.Helper()
	for n := range 5 {
		steps := 0
		for _, i := range both {
			i.next(t, lastRevision)
			place := filepath.Join(i.dir, "state-"+i.upstream)
			if err := os.RemoveAll(filepath.Join(place, "leases")); err != nil {
				t.Error(err)
			}
			r := i.run(t, command{bundle: i.upstream, more: []string{"--no-dry-run", "--state", place}})
			if steps += len(r.Steps); r.Outcome != "done" && n > 2 {
				t.Errorf("%s, run %d: %v\n%s", i.upstream, n, r, r.log)
			}
		}
		if steps == 0 {
			return
		}
	}
	t.Error("there is always something to do")
}

// listPaths returns the lists of objects of a namespace.
func listPaths() []string {
	return []string{"/apis/apps/v1/namespaces/%s/deployments", "/apis/apps/v1/namespaces/%s/statefulsets",
		"/apis/batch/v1/namespaces/%s/cronjobs", "/api/v1/namespaces/%s/services"}
}

// snapshot returns all objects by their paths, without what differs each time.
func (in *installation) snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for n := range 2 {
		for _, list := range listPaths() {
			list = fmt.Sprintf(list, namespaceName(n))
			items, _ := in.get(t, list)["items"].([]any)
			for _, item := range items {
				o := item.(datafile)
				m, spec := at(o, "metadata"), at(o, "spec")
				delete(at(m, "annotations"), "deployment.kubernetes.io/revision")
				delete(spec, "clusterIP")
				delete(spec, "clusterIPs")
				raw, err := json.Marshal([]any{m["labels"], m["annotations"], m["deletionTimestamp"], spec})
				if err != nil {
					t.Fatal(err)
				}
				out[fmt.Sprintf("%s/%v", list, m["name"])] = string(raw)
			}
		}
	}
	return out
}

// checkMost checks that no Deployment ever had two pods at once.
func (in *installation) checkMost(t *testing.T, machines *kubetest.Machines, now map[string]string) {
	t.Helper()
	ran := 0
	for path := range now {
		n := machines.MostPods(path)
		ran += n
		if n > 1 {
			t.Errorf("%s had %d pods at once", path, n)
		}
	}
	if ran == 0 {
		t.Error("no pod was seen")
	}
}

// clear deletes all objects, and waits until their pods are gone.
func (in *installation) clear(t *testing.T, all map[string]string) {
	t.Helper()
	for path := range all {
		in.real.Send(t, "admin", http.MethodDelete, path, "application/json", `{"propagationPolicy": "Background"}`)
	}
	for range 600 {
		if left, _ := in.get(t, "/api/v1/pods")["items"].([]any); len(left) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("pods are left")
}

// watchPods checks again and again that no two pods do the same work.
func (in *installation) watchPods(t *testing.T, ended <-chan struct{}) {
	looks := 0
	defer func() { t.Logf("looked at all pods %d times", looks) }()
	for ; ; looks++ {
		items, _ := in.get(t, "/api/v1/pods")["items"].([]any)
		work := map[string]string{} // what processes do, by integration and key
		for _, item := range items {
			name := fmt.Sprint(at(item.(datafile), "metadata")["name"])
			v := variables(item.(datafile))
			same, number := v["INTEGRATION_NAME"]+" "+v["SHARD_KEY"], v["SHARDS"]
			if first := cmp.Or(work[same], number); first != number {
				t.Errorf("%s is of %s shards, and another process of %s", name, number, first)
			}
			work[same] = number
			if at := same + " " + v["SHARD_ID"]; work[at+"!"] != "" {
				t.Errorf("%s and %s do the same work at once", name, work[at+"!"])
			} else {
				work[at+"!"] = name
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// variables returns the environment of the process of a pod.
func variables(pod datafile) map[string]string {
	out := map[string]string{}
	for _, c := range at(pod, "spec")["containers"].([]any) {
		env, _ := c.(datafile)["env"].([]any)
		for _, v := range env {
			if c.(datafile)["name"] == "int" {
				out[fmt.Sprint(v.(datafile)["name"])] = fmt.Sprint(v.(datafile)["value"])
			}
		}
	}
	return out
}
