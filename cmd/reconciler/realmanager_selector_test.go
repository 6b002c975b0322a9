//go:build !race

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/manifests"
)

// What was taken over keeps its selector and its pods, until somebody asks for selectors of its
// own and confirms that each Deployment is made anew.
func TestRealManagerSelector(t *testing.T) {
	in := newInstallation(t, 1)
	in.real.Control(t)
	machines := in.real.RunPods(t, nil)
	in.settings = "{mode: parity}"
	for i := range 5 {
		in.addAccount(fmt.Sprintf("account-%d", i))
	}
	in.define("by-account", 0, datafile{}, datafile{"strategy": "per-aws-account"})
	for _, o := range in.rendered(t, "peer") {
		in.applyAsPeer(t, o)
	}
	pods := in.waitForPods(t, 6)
	state := []string{"--no-dry-run", "--state", "state"}
	in.mustRun(t, command{verb: "take-over", more: state})
	in.settings = "{}"
	in.mustRun(t, command{more: state})
	if now := in.waitForPods(t, 6); !slices.Equal(now, pods) {
		t.Errorf("there were %q, and there are %q", pods, now)
	}

	in.settings = "{migrate_selector: true}"
	refused := in.run(t, command{more: state})
	_, digest, _ := strings.Cut(refused.String()+refused.log, "--confirm-deletions ")
	if digest = strings.TrimRight(strings.Fields(digest + " ?")[0], ".,;)"); refused.Outcome != "failed" ||
		len(digest) < 8 {
		t.Fatalf("nothing was refused: %v", refused)
	}
	if now := in.waitForPods(t, 6); !slices.Equal(now, pods) {
		t.Errorf("a refused run changed %q to %q", pods, now)
	}
	in.mustRun(t, command{more: append(state, "--confirm-deletions", digest)})
	for i := range 5 {
		path := deploymentPath(0, fmt.Sprintf("by-account-account-%d", i))
		if at(in.get(t, path), "spec", "selector", "matchLabels")[manifests.InstanceLabel] == nil {
			t.Errorf("%s has its old selector", path)
		}
		if n := machines.MostPods(path); n != 1 {
			t.Errorf("%s had %d pods at once", path, n)
		}
	}
	if now := in.waitForPods(t, 6); slices.ContainsFunc(now, func(pod string) bool { return slices.Contains(pods, pod) }) {
		t.Errorf("there were %q, and there are %q", pods, now)
	}
	in.checkQuiet(t)
}

// waitForPods waits until there are so many pods, and returns their names.
func (in *installation) waitForPods(t *testing.T, want int) (names []string) {
	t.Helper()
	for range 300 {
		names = nil
		items, _ := in.get(t, "/api/v1/pods")["items"].([]any)
		for _, item := range items {
			names = append(names, fmt.Sprint(at(item.(datafile), "metadata")["name"]))
		}
		if slices.Sort(names); len(names) == want {
			return names
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("there are %q, want %d pods", names, want)
	return nil
}
