package threeway_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

var (
	steps = flag.Int("steps", 250, "how many random bodies each law is tried on")
	seed  = flag.Uint64("seed", 1, "the first seed of the random bodies")
)

var key = []byte("key of the installation")

func numberOf(text string) any { return json.Number(text) }

// A maker makes a plan; a mutant of it makes a wrong one.
type maker func(threeway.Input) *threeway.Plan

var (
	withoutLists   = rules.Cached(worldTable[:len(worldTable)-5])
	withoutSecrets = rules.Cached(worldTable[:9])
)

// A law holds for every input. It returns what is wrong.
type law func(w world, make maker) string

var laws = map[string]struct {
	law    law
	mutant maker
}{
	"applied and read again, nothing is left to do": {settles, func(in threeway.Input) *threeway.Plan {
		p := threeway.Make(in)
		if before, ok := body.Get(in.Live, "/p"); ok && p.Action == threeway.Update {
			p.PutBody = body.Merge(p.PutBody, object{"p": object{"on": before.(object)["on"]}})
		}
		return p
	}},
	"a plan of equal bodies is empty": {isEmptyOfEqual, func(in threeway.Input) *threeway.Plan {
		in.Rules = rules.Table{{At: "/p/only/*", Rule: rules.Rule{}}}
		in.Live = body.Merge(in.Live, object{"location": "elsewhere"})
		return threeway.Make(in)
	}},
	"what nobody desires is never touched": {touchesOnlyOurs, func(in threeway.Input) *threeway.Plan {
		p := threeway.Make(in)
		if p.Action == threeway.Update {
			p.PutBody = body.WithoutNulls(in.Desired)
		}
		return p
	}},
	"the result has what is desired": {hasDesired, func(in threeway.Input) *threeway.Plan {
		p := threeway.Make(in)
		if p.Action == threeway.Update {
			p.PutBody = body.Merge(p.PutBody, object{"tags": object{"a": "3"}})
		}
		return p
	}},
	"the merge patch and the body of PUT lead to one object": {isOneObject, func(in threeway.Input) *threeway.Plan {
		p := threeway.Make(in)
		delete(p.MergePatch, "tags")
		return p
	}},
	"a body of PUT loses nothing that the data have": {losesNothing, func(in threeway.Input) *threeway.Plan {
		p := threeway.Make(in)
		if put, ok := p.PutBody.(object); ok {
			if inner, ok := put["p"].(object); ok {
				delete(inner, "password")
			}
		}
		return p
	}},
	"the order of lists with keys and of sets does not count": {ignoresOrder, func(in threeway.Input) *threeway.Plan {
		in.Rules = withoutLists
		return threeway.Make(in)
	}},
	"what is found offline is found online": {isFoundOnline, func(in threeway.Input) *threeway.Plan {
		if !body.Equal(in.Applied, in.Live, body.Plain) {
			in.AllowUpdate = []string{"/p"}
		}
		return threeway.Make(in)
	}},
	"no secret is shown": {hidesSecrets, func(in threeway.Input) *threeway.Plan {
		in.Rules = withoutSecrets
		return threeway.Make(in)
	}},
	"a plan is always the same": {isAlwaysSame, func() maker {
		n := 0
		return func(in threeway.Input) *threeway.Plan {
			p := threeway.Make(in)
			if n++; n%2 == 0 && len(p.Changes) > 1 {
				slices.Reverse(p.Changes)
			}
			return p
		}
	}()},
}

func TestLaws(t *testing.T) {
	for name, l := range laws {
		t.Run(name, func(t *testing.T) {
			for i := range *steps {
				if wrong := l.law(newWorld(*seed+uint64(i)), threeway.Make); wrong != "" {
					t.Fatalf("seed %d: %s", *seed+uint64(i), wrong)
				}
			}
		})
	}
}

// Each law refuses a plan that breaks it.
func TestLawsCatchMutants(t *testing.T) {
	for name, l := range laws {
		t.Run(name, func(t *testing.T) {
			for i := range uint64(500) {
				if l.law(newWorld(i), l.mutant) != "" {
					return
				}
			}
			t.Error("the mutant is not caught")
		})
	}
}

// triple returns a random input. Half of the live bodies are what a service answers.
func (w world) triple() threeway.Input {
	applied := w.body()
	in := threeway.Input{
		Applied: threeway.Remember(applied, worldRules, key), Live: w.serve(w.edited(applied, pick(w, 0, 10, 40))),
		Desired: w.withNulls(w.edited(applied, pick(w, 0, 10, 40))),
		Rules:   worldRules, Key: key, WasApplied: true, IsThere: true,
	}
	if w.is(10) {
		in.Applied, in.WasApplied = nil, false
	}
	return in
}

// update returns an input whose plan is an update, and the plan.
func (w world) update(make maker) (threeway.Input, *threeway.Plan) {
	in := w.triple()
	if live, ok := in.Live.(object); ok { // create-only values do not differ
		desired := body.Merge(in.Desired, object{"location": live["location"], "p": object{}}).(object)
		if p, ok := live["p"].(object); ok {
			desired = body.Merge(desired, object{"p": object{"zone": p["zone"]}}).(object)
		}
		in.Desired = desired
	}
	return in, make(in)
}

// next returns the input of the plan after one that was carried out.
func next(in threeway.Input, live any) threeway.Input {
	in.Applied, in.WasApplied, in.Live = threeway.Remember(in.Desired, in.Rules, in.Key), true, live
	return in
}

func settles(w world, make maker) string {
	in, p := w.update(make)
	if p.Action != threeway.Update {
		return ""
	}
	for _, sent := range []any{p.PutBody, body.Merge(in.Live, p.MergePatch)} {
		if again := make(next(in, w.serve(sent))); again.Action != threeway.None {
			return fmt.Sprintf("%s, after %s", describe(again), describe(p))
		}
	}
	return ""
}

func isEmptyOfEqual(w world, make maker) string {
	x := w.body()
	p := make(threeway.Input{
		Applied: threeway.Remember(x, worldRules, key), Desired: x, Live: x, Rules: worldRules, Key: key, WasApplied: true,
		IsThere: true})
	if p.Action != threeway.None || len(p.Warnings) > 0 {
		return describe(p)
	}
	return ""
}

func touchesOnlyOurs(w world, make maker) string {
	in, p := w.update(make)
	if p.Action != threeway.Update {
		return ""
	}
	after, ours, theirs := leaves(p.PutBody), leaves(in.Desired), leaves(in.Applied)
	for path, before := range leaves(in.Live) {
		if isOwned(path, ours) || isOwned(path, theirs) || isOfService(path) || strings.HasPrefix(path, "/p/only") ||
			strings.HasPrefix(path, "/p/shape") {
			continue
		}
		if after[path] != before && !(isNothing(before) && isNothing(after[path])) {
			return fmt.Sprintf("%s was %s and is %q, after %s", path, before, after[path], describe(p))
		}
	}
	return ""
}

// isOwned reports whether a body has a path, or something around it or inside of it.
func isOwned(path string, of map[string]string) bool {
	for p := range of {
		if strings.HasPrefix(p+"/", path+"/") || strings.HasPrefix(path+"/", p+"/") {
			return true
		}
		if item := itemOf(p); item != "" && item == itemOf(path) {
			return true // an item that goes takes everything with it
		}
	}
	return false
}

func itemOf(path string) string {
	for _, list := range []string{"/p/nets/", "/p/ports/"} {
		if rest, ok := strings.CutPrefix(path, list); ok {
			name, _, _ := strings.Cut(rest, "/")
			return list + name
		}
	}
	return ""
}

func isOfService(path string) bool {
	return path == "/id" || strings.HasSuffix(path, "etag") || path == "/p/state" || path == "/p/password"
}
