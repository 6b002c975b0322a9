package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/wrapper"
)

// An announcer is a native integration that hands over its effects.
type announcer struct {
	native
	effects []plan.Effect
	failure error
}

func (a announcer) DryRun(_ context.Context, env integration.Environment) error {
	_, err := fmt.Fprintln(env.Log, "would drop the lamp of", env.Shard)
	for i := range a.effects {
		env.Report(integration.Remark{Effect: &a.effects[i]})
	}
	return errors.Join(err, a.failure)
}

// A native integration that hands over effects makes its dry run in a way of its own. What it
// logs counts by the rules, as for every integration.
func TestNativeAnnouncesEffects(t *testing.T) {
	base, head, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	open, err := Equipment{Base: base, Head: head, Settings: &settings.Settings{},
		Observe: func(string) func(server.Exchange) { return nil }}.endpoints()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\neffects: [{match: '^would drop (?P<subject>.+)', kind: delete}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := announcer{native{"warehouse-stock", "{ warehouses { name } }"},
		[]plan.Effect{{Kind: plan.EffectCreate, Subject: "a shelf", Times: 2}, {Kind: "evil", Subject: "x"}}, nil}
	task := plan.Task{ID: "it", Integration: "warehouse-stock", Shard: "harbor", Native: true}
	finder := effects.NewFinder(rules.For("a").Effects, mask.New(nil))
	var log bytes.Buffer
	all := runner{process: wrapper.Process{Open: open},
		Equipment: Equipment{Settings: rules, Natives: []integration.DryRunner{n}, Effects: func(plan.Task) *effects.Finder {
			return finder
		}}}
	if err := all.Run(t.Context(), task, &log); err != nil || log.String() != "would drop the lamp of harbor\n" {
		t.Errorf("got %q, %v", log.String(), err)
	}
	got := finder.Effects()
	want := []plan.Effect{{Kind: plan.EffectDelete, Subject: "the lamp of harbor", Known: plan.Known{How: plan.KnownSaid},
		Text: "would drop the lamp of harbor"},
		{Kind: plan.EffectCreate, Subject: "a shelf", Times: 2, Known: plan.Known{How: plan.KnownSaid}}}
	if !reflect.DeepEqual(got.Items, want) || len(got.Problems) != 1 {
		t.Errorf("got %v and the problems %q, want %v and one problem", got.Items, got.Problems, want)
	}

	// Without somebody who looks for effects it runs all the same, and its error counts.
	n.failure = errors.New("no target")
	all.Natives, all.Effects = []integration.DryRunner{n}, nil
	if err := all.Run(t.Context(), task, io.Discard); !errors.Is(err, n.failure) {
		t.Errorf("got %v, want %v", err, n.failure)
	}
}

// The place of a finding leads to its effect, unless the native names the places itself.
func TestPlaceOfFindingIsTheCause(t *testing.T) {
	at := plan.Place{File: "/a.yml", Pointer: "/x"}
	named := []plan.Cause{{Place: plan.Place{File: "/b.yml"}}}
	for _, c := range []struct {
		effect plan.Effect
		at     plan.Place
		want   []plan.Cause
	}{
		{plan.Effect{}, at, []plan.Cause{{Place: at}}},
		{plan.Effect{Cause: named}, at, named},
		{plan.Effect{}, plan.Place{}, nil},
	} {
		r := integration.Remark{Finding: plan.Finding{Place: c.at}, Effect: &c.effect}
		if got := effectOf(r).Cause; !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
