//go:build !race

package main

import (
	"cmp"
	"fmt"
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

// Kills at random moments, a second instance and other tools: everybody keeps what is theirs,
// and in the end everything is as the data say.
func TestRealClusterKills(t *testing.T) {
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("PRCHECK_KILLS"), "12"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("PRCHECK_SEED"), strconv.FormatInt(time.Now().UnixNano(), 10)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills with PRCHECK_SEED=%d", kills, seed)
	f := newFleet(t, rand.New(rand.NewPCG(seed, 1))) //nolint:gosec // repeatable
	f.killAll(t, kills)
	f.converge(t)
	f.checkOthers(t)
	f.checkNamespaces(t)
	f.checkAudit(t)
	f.checkNothingToDo(t)
	f.checkDryRun(t)
	f.checkOthers(t)
	f.checkAudit(t)
}

// last is the revision of the data in the end.
const last = 1000

// killAll runs both instances again and again and kills them, while others work.
func (f *fleet) killAll(t *testing.T, kills int) {
	ended := make(chan struct{})
	var others, instances sync.WaitGroup
	others.Go(func() { f.playTool(t, ended) })
	others.Go(func() { f.playController(t, ended) })
	var mu sync.Mutex
	done, runs := 0, 0
	for i, caller := range callers {
		random := rand.New(rand.NewPCG(f.random.Uint64(), uint64(i))) //nolint:gosec // repeatable
		instances.Go(func() {
			for n, revision := 0, 0; n < kills/len(callers); revision++ {
				f.setData(t, caller, revision)
				isKilled := f.kill(t, caller, random)
				mu.Lock()
				runs++
				if isKilled {
					n++
					done++
				}
				mu.Unlock()
			}
		})
	}
	instances.Wait()
	close(ended)
	others.Wait()
	t.Logf("%d of %d runs were killed", done, runs)
}

// kill starts an instance and kills it a little later. It reports whether it came in time. Half
// of the runs have a state, whose leases are taken away, as if their time were over.
func (f *fleet) kill(t *testing.T, caller string, random *rand.Rand) bool {
	more := []string{"--no-dry-run"}
	if random.IntN(2) == 0 {
		place := filepath.Join(f.dir, "state-"+caller)
		removeLeases(t, place)
		more = append(more, "--state", place)
	}
	cmd := f.command(t, caller, caller, more...)
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return true
	}
	// it may have ended
	timer := time.AfterFunc(100*time.Millisecond+time.Duration(random.IntN(2000))*time.Millisecond, func() {
		_ = cmd.Process.Kill()
	})
	defer timer.Stop()
	_ = cmd.Wait() // it was killed
	return !cmd.ProcessState.Exited()
}

// playTool labels namespaces: those of others, whose versions it notes, and those of the
// instances, so that what they read gets old. It also makes some that the instances want.
func (f *fleet) playTool(t *testing.T, ended <-chan struct{}) {
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // repeatable
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		case <-time.After(15 * time.Millisecond):
		}
		if name := fmt.Sprintf("a-race-%d", random.IntN(races)); n%16 == 1 {
			f.make(t, name, `{}`)
			continue
		}
		name := fmt.Sprintf("%s-%d", []string{"foreign", "other"}[random.IntN(2)], random.IntN(10))
		isOthers := n%4 == 0
		if !isOthers {
			name = fmt.Sprintf("%s-%03d", callers[random.IntN(2)], random.IntN(size))
		}
		code, raw := f.real.Send(t, "admin", http.MethodPatch, "/api/v1/namespaces/"+name+"?fieldManager=tool",
			"application/merge-patch+json",
			fmt.Sprintf(`{"metadata": {"labels": {"tool": "n%d"}}}`, n))
		if isOthers && code == http.StatusOK {
			f.mu.Lock()
			f.versions[name] = decodeNamespace(t, raw).Metadata.ResourceVersion
			f.mu.Unlock()
		}
	}
}

// playController ends the deletions of namespaces, as the controller of a cluster does.
func (f *fleet) playController(t *testing.T, ended <-chan struct{}) {
	for {
		for name, is := range f.list(t) {
			if is.Metadata.DeletionTimestamp != "" {
				f.real.Finalize(t, name)
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// list returns all namespaces by name.
func (f *fleet) list(t *testing.T) map[string]namespaceObject {
	t.Helper()
	_, raw := f.real.Send(t, "admin", http.MethodGet, "/api/v1/namespaces", "", "")
	var is struct{ Items []namespaceObject }
	mustDecode(t, raw, &is)
	out := map[string]namespaceObject{}
	for _, n := range is.Items {
		out[n.Metadata.Name] = n
	}
	return out
}

// converge runs both instances to their end with the last data.
func (f *fleet) converge(t *testing.T) {
	for range 2 {
		for _, caller := range callers {
			f.setData(t, caller, last)
			f.run(t, caller, caller, "--no-dry-run")
		}
		for name := range deletes() {
			f.real.Finalize(t, name)
		}
	}
}

// checkOthers checks that nothing of others was changed or deleted.
func (f *fleet) checkOthers(t *testing.T) {
	t.Helper()
	now := f.list(t)
	for name, version := range f.versions {
		if got := now[name].Metadata.ResourceVersion; got != version {
			t.Errorf("%s of others had version %s and has %q", name, version, got)
		}
	}
}

// checkNamespaces checks that all namespaces are as the data say.
func (f *fleet) checkNamespaces(t *testing.T) {
	now, gone := f.list(t), deletes()
	for _, caller := range callers {
		for _, w := range wishes(caller, last) {
			is, there := now[w.name]
			m := is.Metadata
			switch {
			case !f.isOurs(caller, w.name):
			case gone[w.name]:
				if there {
					t.Errorf("%s is still there: %v", w.name, is)
				}
			case !there || m.DeletionTimestamp != "":
				t.Errorf("%s is not there", w.name)
			case strings.HasPrefix(w.name, caller) &&
				(m.Annotations["qontract.caller_name"] != caller || m.Labels["team"] != caller ||
					m.Labels["revision"] != "r"+strconv.Itoa(last)):
				t.Errorf("%s is %v", w.name, m)
			case m.Annotations["qontract.caller_name"] != m.Labels["team"] || m.Labels["revision"] != "r"+strconv.Itoa(last):
				t.Errorf("%s has two owners: %v", w.name, m)
			}
		}
	}
}

// isOurs reports whether an instance may write a namespace.
func (f *fleet) isOurs(caller, name string) bool {
	return strings.HasPrefix(name, caller+"-") || strings.HasPrefix(name, "a-race-") && f.versions[name] == ""
}

// checkAudit checks in the log of the server who changed what.
func (f *fleet) checkAudit(t *testing.T) {
	t.Helper()
	gone := deletes()
	made, owner, count := map[string]int{}, map[string]string{}, map[string]int{}
	for _, caller := range callers {
		for _, q := range f.real.Audit(t, f.users[caller]) {
			count[q.Verb]++
			name := strings.TrimPrefix(q.Path, "/api/v1/namespaces/")
			if q.Verb == "get" || q.Verb == "list" || q.Code >= 300 {
				continue
			}
			if q.Code == http.StatusCreated {
				made[name]++
			}
			if before := owner[name]; before != "" && before != caller {
				t.Errorf("%s was written by %s and by %s", name, before, caller)
			}
			owner[name] = caller
			if !f.isOurs(caller, name) || q.Verb == "delete" && !gone[name] {
				t.Errorf("%s: %s", caller, q)
			}
		}
	}
	for name, n := range made {
		if n > 1 {
			t.Errorf("%s was made %d times", name, n)
		}
	}
	for _, q := range f.real.Audit(t, f.users["read"]) {
		if q.Verb != "get" && q.Verb != "list" || q.Code != http.StatusOK {
			t.Errorf("a dry run sent %s", q)
		}
	}
	t.Logf("the instances sent %v", count)
}

// writes returns how many requests of the instances were not get or list.
func (f *fleet) writes(t *testing.T) int {
	n := 0
	for _, user := range f.users {
		n += len(slices.DeleteFunc(f.real.Audit(t, user), func(q kubetest.Request) bool {
			return q.Verb == "get" || q.Verb == "list"
		}))
	}
	return n
}

// checkNothingToDo checks that another run writes nothing.
func (f *fleet) checkNothingToDo(t *testing.T) {
	before := f.writes(t)
	for _, caller := range callers {
		if r := f.run(t, caller, caller, "--no-dry-run"); len(r.Steps) > 0 {
			t.Errorf("the second run of %s did %v", caller, r.Steps)
		}
	}
	if after := f.writes(t); after != before {
		t.Errorf("the second runs sent %d writes", after-before)
	}
}

// checkDryRun checks that a dry run only reads, and says what the run after it does.
func (f *fleet) checkDryRun(t *testing.T) {
	for _, caller := range callers {
		f.setData(t, caller, last+1)
		before := f.writes(t)
		dry := f.run(t, caller, "read")
		if after := f.writes(t); after != before {
			t.Errorf("the dry run sent %d writes", after-before)
		}
		wet := f.run(t, caller, caller, "--no-dry-run")
		if !slices.Equal(dry.actions(), wet.actions()) || len(dry.Steps) < size-20 {
			t.Errorf("%s: the dry run said\n%s\nthe run did\n%s", caller, strings.Join(dry.actions(), "\n"),
				strings.Join(wet.actions(), "\n"))
		}
		for _, s := range wet.Steps {
			if s.Status != "done" {
				t.Errorf("%s: %v", caller, s)
			}
		}
	}
}
