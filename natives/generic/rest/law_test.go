package rest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/natives/generic/body"
)

var kills = flag.Int("kills", 40, "how many worlds with kills and faults the law runs through")

// Whatever is killed or lost, at whatever moment: all resources end as they are desired, each is
// there once, no operation is started while another one goes on at the same resource, and no
// change of somebody else is lost where the service has versions. A last run writes nothing.
func TestConvergence(t *testing.T) {
	killed := 0
	for seed := range uint64(*kills) { //nolint:gosec // a flag of a test is no large number
		w := newWorld(t, seed)
		w.interfere()
		for range 6 {
			w.edit()
			killed += w.disturbed()
		}
		w.server.Fail(nil)
		w.server.Intervene(nil, nil)
		for _, key := range w.keys() {
			if err := w.run(t.Context(), w.managed[key]); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, key, err)
			}
		}
		w.check(seed)
	}
	t.Logf("%d worlds, %d kills", *kills, killed)
	if killed < *kills {
		t.Errorf("only %d kills: the law holds nothing", killed)
	}
}

// edit changes what is desired of some resource.
func (w *world) edit() {
	keys := w.keys()
	m := w.managed[keys[w.random.IntN(len(keys))]]
	if len(m.target.Address.Parent) == len(group) {
		m.desired = body.Merge(m.desired, map[string]any{"tags": map[string]any{"ours": fmt.Sprint(w.random.IntN(100))}})
	}
}

// disturbed runs all resources with faults, and with a kill in half of the runs. It returns the
// number of kills.
func (w *world) disturbed() (killed int) {
	var keys []string
	for _, key := range w.keys() {
		keys = append(keys, key)
		for range w.random.IntN(3) { // the next process comes at once
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		ctx, kill := context.WithCancelCause(w.t.Context())
		moment := w.random.IntN(20)
		n := 0
		w.server.Fail(func(armtest.Request) *armtest.Fault {
			n++
			switch r := w.random.IntN(30); {
			case n == moment:
				killed++
				kill(errKilled)
				return &armtest.Fault{Lost: true}
			case r == 0:
				return &armtest.Fault{Lost: true}
			case r == 1:
				return &armtest.Fault{Cut: true}
			case r == 2:
				return &armtest.Fault{Status: 500, Code: "InternalServerError"}
			case r == 3:
				return &armtest.Fault{Status: 429, Code: "TooManyRequests"}
			}
			return nil
		})
		if err := w.run(ctx, w.managed[key]); err != nil && ctx.Err() == nil {
			var e *Error
			if !errors.Is(err, ErrPending) && (!errors.As(err, &e) || e.Class == Fatal) {
				w.t.Errorf("%s: %v", key, err)
			}
		}
		kill(nil)
	}
	return killed
}

// interfere lets somebody else change tags in the moment before some writes arrive.
func (w *world) interfere() {
	w.theirs = map[string]string{}
	w.server.Intervene(func(r armtest.Request) {
		key := strings.ToLower(r.Path)
		if m := w.managed[key]; m == nil || r.Method == "GET" || m.target.Address.Chain != key || w.random.IntN(4) > 0 {
			return
		}
		value := fmt.Sprint(w.random.IntN(1000))
		isThere := w.server.Edit(r.Path, func(v map[string]any) {
			tags, ok := v["tags"].(map[string]any)
			if !ok {
				tags = map[string]any{}
				v["tags"] = tags
			}
			tags["theirs"] = value
		})
		if isThere {
			w.theirs[key] = value
		}
	}, nil)
}

// hasVersions reports whether the service locks a resource by versions.
func hasVersions(m *managed) bool {
	return strings.Contains(m.target.Type, "networks") || strings.Contains(m.target.Type, "scaleSets")
}

var errKilled = errors.New("killed")

// check compares the world with what is desired.
func (w *world) check(seed uint64) {
	w.t.Helper()
	ids := 0
	for _, key := range w.keys() {
		m := w.managed[key]
		live := w.server.Object(key)
		if live == nil {
			w.t.Errorf("seed %d: %s is not there", seed, key)
			continue
		}
		ids++
		tags, _ := live["tags"].(map[string]any)
		if theirs := w.theirs[key]; hasVersions(m) && theirs != "" && tags["theirs"] != theirs {
			w.t.Errorf("seed %d: %s: the change %s of somebody else is lost: %v", seed, key, theirs, tags)
		}
		clean, err := body.Of(map[string]any(live))
		if err != nil {
			w.t.Fatal(err)
		}
		if p := m.made(Live{Found: true, Body: clean}); len(p.Changes) > 0 {
			w.t.Errorf("seed %d: %s: %+v is left", seed, key, p.Changes)
		}
	}
	if n := len(w.server.IDs()); n != ids {
		w.t.Errorf("seed %d: %d resources, want %d", seed, n, ids)
	}
	for _, r := range w.server.Overlaps() {
		w.t.Errorf("seed %d: %s was sent while an operation went on", seed, r)
	}
	w.server.Forget()
	for _, key := range w.keys() {
		if r, err := w.client().Write(w.t.Context(), w.managed[key].target, w.managed[key], w.managed[key]); err != nil ||
			r.Did != Nothing {
			w.t.Errorf("seed %d: %s: a further run did %s, %v", seed, key, r.Did, err)
		}
	}
	if n := len(w.server.Writes()); n > 0 {
		w.t.Errorf("seed %d: a further run wrote %d times", seed, n)
	}
}
