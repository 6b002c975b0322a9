//go:build !race

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// fill adds 139 definitions to the one of the manager, with 1,000 shards in 20 namespaces:
// 19 by 40 accounts, 17 by eight static shards, 43 on a schedule, 30 with a cache and 30 others.
func (in *installation) fill(t *testing.T) {
	t.Helper()
	for i := range 40 {
		in.addAccount(fmt.Sprintf("account-%02d", i))
	}
	for i := range 19 {
		in.define(fmt.Sprintf("by-account-%02d", i), 1+i, datafile{"extraArgs": "--threads 5"},
			datafile{"strategy": "per-aws-account"})
	}
	for i := range 17 {
		in.define(fmt.Sprintf("static-%02d", i), i, datafile{"state": true}, datafile{"strategy": "static", "shards": 8})
	}
	for i := range 43 {
		in.define(fmt.Sprintf("job-%02d", i), i%20, datafile{"cron": "10 * * * *"}, nil)
	}
	for i := range 30 {
		in.define(fmt.Sprintf("cache-%02d", i), i%20, datafile{"cache": true}, nil)
		in.define(fmt.Sprintf("single-%02d", i), i%20, datafile{"logs": datafile{"slack": true}}, nil)
	}
}

// Budgets of the time on processors. The goal of a quiet run is one second: reading 1,000 objects
// and their records takes two to three on a busy machine.
const (
	firstBudget = 10 * time.Second
	quietBudget = 5 * time.Second
)

// 140 integrations with 1,000 shards: the first run makes all, the second one asks for each kind
// once and writes nothing, and a change writes what it is about.
func TestRealManagerScale(t *testing.T) {
	in := newInstallation(t, 20)
	in.fill(t)
	const services = 20
	before := in.sent(t, "write")
	first := in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	sent := in.sent(t, "write").since(before)
	t.Logf("the first run took %v of CPU and sent %s", first.cpu, sent.count())
	if n := len(first.Steps) + first.MoreSteps; n != 1000+services {
		t.Errorf("the first run made %d objects, want %d", n, 1000+services)
	}
	if w := sent.writes(); len(w) != 1000+services {
		t.Errorf("the first run sent %d writes, want %d", len(w), 1000+services)
	}
	if first.cpu > firstBudget {
		t.Errorf("the first run took %v of CPU, which is more than %v", first.cpu, firstBudget)
	}
	in.checkQuiet(t)

	in.entry("by-account-00")["sharding"].(datafile)["shardSpecOverrides"] = []any{
		datafile{"shard": refTo("/accounts/account-03.yml"),
			"resources": datafile{"requests": datafile{"cpu": "1", "memory": "1Gi"}, "limits": datafile{"memory": "2Gi"}}}}
	in.checkWrites(t, "another override", 1, "patch ")
	in.addAccount("lake")
	in.checkWrites(t, "a new account", 19, "patch ")
	in.data["/accounts/lake.yml"]["disable"] = datafile{"integrations": []any{"by-account-07"}}
	in.checkWrites(t, "an account that disables one integration", 1, "delete ")
	delete(in.data, "/accounts/lake.yml")
	in.checkWrites(t, "an account that goes", 18, "delete ")
	in.data["/accounts/account-05.yml"]["description"] = "Another text."
	in.checkWrites(t, "another description", 0, "")
}

// checkQuiet checks that a run has nothing to do, asks for each kind of a namespace once, and
// takes no more than its budget.
func (in *installation) checkQuiet(t *testing.T) {
	t.Helper()
	before := in.sent(t, "write")
	r := in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	sent := in.sent(t, "write").since(before)
	t.Logf("a quiet run took %v of CPU and sent %s", r.cpu, sent.count())
	if w := sent.writes(); len(w)+len(r.Steps) > 0 {
		t.Errorf("a quiet run wrote %q: %v", w, r)
	}
	lists := map[string]int{}
	for _, q := range sent["list"] {
		lists[q.Path]++
	}
	for path, n := range lists {
		if n > 1 {
			t.Errorf("a quiet run asked %d times for %s", n, path)
		}
	}
	if len(lists) == 0 || len(sent) != 1 {
		t.Errorf("a quiet run sent %s", sent.count())
	}
	if r.cpu > quietBudget {
		t.Errorf("a quiet run took %v of CPU, which is more than %v", r.cpu, quietBudget)
	}
}

// checkWrites checks how many objects a run writes, and each of them once.
func (in *installation) checkWrites(t *testing.T, what string, want int, verb string) {
	t.Helper()
	before := in.sent(t, "write")
	r := in.mustRun(t, command{more: []string{"--no-dry-run", "--state", "state"}})
	w := in.sent(t, "write").since(before).writes()
	isOther := func(line string) bool { return !strings.HasPrefix(line, verb) }
	if len(w) != want || len(slices.Compact(slices.Clone(w))) != want || slices.ContainsFunc(w, isOther) {
		t.Errorf("%s wrote %d objects, want %d: %q\n%v", what, len(w), want, w, r)
	}
	t.Logf("%s wrote %d objects and took %v of CPU", what, len(w), r.cpu)
}
