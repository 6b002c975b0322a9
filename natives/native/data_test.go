package native_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

type library map[string]map[string]string

func (l library) json(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// newChangeOfLibrary returns random data, a random change of them, and a shelf with the books of base.
func newChangeOfLibrary(seed uint64) (base, head library, s *shelf) {
	r := rand.New(rand.NewPCG(seed, 7))
	titles := []string{"Atlas", "Bible", "Comic", "!", "?"}
	base, head = library{}, library{}
	s = &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	for i := range 1 + r.IntN(4) {
		shard := fmt.Sprintf("s%d", i)
		base[shard] = map[string]string{}
		for j := range r.IntN(6) {
			key, title := fmt.Sprintf("%s-%d", shard, j), titles[r.IntN(4)] // nobody knows what a mistake of base has made
			base[shard][key] = title
			if title != "!" {
				s.put(reconcile.Key(key), reconcile.Thing{Body: title, Mark: reconcile.Mark{Integration: "books", Caller: shard}})
			}
		}
		head[shard] = maps.Clone(base[shard])
	}
	for range r.IntN(14) {
		shards := slices.Sorted(maps.Keys(head))
		shard := shards[r.IntN(len(shards))]
		key := fmt.Sprintf("%s-%d", shard, r.IntN(7))
		switch r.IntN(6) {
		case 0:
			delete(head[shard], key)
		case 1:
			if len(shards) > 1 {
				delete(head, shard)
			}
		default:
			head[shard][key] = titles[r.IntN(len(titles))]
		}
	}
	return base, head, s
}

// effectsOf returns the effects among what a dry run said, and what nobody looked at.
func effectsOf(said string) (effects, unlooked []string) {
	for line := range strings.SplitSeq(said, "\n") {
		kind, subject, _ := strings.Cut(line, " ")
		switch {
		case kind == "unlooked":
			unlooked = append(unlooked, line)
		case (kind == "create" || kind == "change" || kind == "delete") && !strings.Contains(subject, " "):
			effects = append(effects, line)
		}
	}
	slices.Sort(effects)
	return effects, unlooked
}

func onlyDeletions(effects []string) []string {
	return slices.DeleteFunc(slices.Clone(effects), func(e string) bool { return !strings.HasPrefix(e, "delete ") })
}

// For every change: with the targets switched off, a dry run tells the same effects of the change as with targets that
// have what base says. However a change takes the eyes of its dry run away, each deletion is told, or nobody looked at
// a part where there may be one.
func TestDataTellWhatTargetsTell(t *testing.T) {
	var told, deletions int
	for seed := range uint64(600) {
		base, head, s := newChangeOfLibrary(seed)
		run := func(base, head string) ([]string, []string) {
			t.Helper()
			said, err := s.run(t, base, head, true, wide)
			if err != nil {
				t.Fatalf("change %d: %v", seed, err)
			}
			return effectsOf(said)
		}
		pending, _ := run(base.json(t), base.json(t))
		live, gaps := run(base.json(t), head.json(t))
		if len(gaps) > 0 {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(head)), func(shard string) bool { return base[shard] == nil }) {
				t.Fatalf("change %d: all targets were asked, and it says %q", seed, gaps)
			}
		}
		want := missing(live, pending)
		told, deletions = told+len(want), deletions+len(onlyDeletions(want))

		s.with = func(i *native.Recipe) {
			i.Offline = true
			i.Current = func(context.Context, integration.Environment, native.Part) (native.Current, error) {
				return native.Current{}, errors.New("nobody answers")
			}
		}
		dark, gaps := run(base.json(t), head.json(t))
		// of a book that base never had only the shelf knows that it is not there
		dark = slices.DeleteFunc(dark, func(e string) bool {
			key := strings.TrimPrefix(e, "delete ")
			shard, _, _ := strings.Cut(key, "-")
			_, isOld := base[shard][key]
			return key != e && !isOld
		})
		if !slices.Equal(dark, want) || len(gaps) == 0 && len(want) > 0 {
			t.Fatalf("change %d, %s to %s: without the targets it says %q and %q, with them %q", seed, base.json(t),
				head.json(t), dark, gaps, want)
		}
		s.with = nil

		s.address = map[string]string{"Moved": "https://other"} // the change moves all targets
		for shard := range head {
			head[shard][shard+"-moved"] = "Moved"
		}
		moved, gaps := run(base.json(t), head.json(t))
		mayDelete := slices.ContainsFunc(gaps, func(g string) bool { return strings.Contains(g, " removed ") })
		if missing := missing(onlyDeletions(want), moved); len(missing) > 0 && !mayDelete {
			t.Fatalf("change %d: with other targets it does not say %q, and %q was not looked at", seed, missing, gaps)
		}

		if _, gaps := run(`[]`, head.json(t)); !slices.ContainsFunc(gaps, func(g string) bool {
			return strings.Contains(g, " all ")
		}) {
			t.Fatalf("change %d: base cannot be read, and it says %q", seed, gaps)
		}
	}
	if told < 800 || deletions < 150 {
		t.Errorf("there were only %d effects and %d deletions", told, deletions)
	}
}

// A deletion that the data ask for is one of the change unless base asks for the same one.
func TestDeletionsByTheData(t *testing.T) {
	type item = reconcile.Item
	type part = native.Part
	for name, c := range map[string]struct {
		base, head part
		want       string
	}{
		"new": {part{Items: []item{{Key: "a"}}}, part{Items: []item{{Key: "a", Delete: true}}}, "delete a"},
		"old": {part{Items: []item{{Key: "a", Delete: true}}}, part{Items: []item{{Key: "a", Delete: true}}}, ""},
		"observed": {part{Items: []item{{Key: "a"}}},
			part{Items: []item{{Key: "a", Delete: true, Policy: reconcile.Observe}}}, ""},
		"no more so": {part{Items: []item{{Key: "a", Delete: true, Policy: reconcile.Observe}}},
			part{Items: []item{{Key: "a", Delete: true}}}, "delete a"},
		"protected": {part{Items: []item{{Key: "a", Delete: true, Protected: true}}},
			part{Items: []item{{Key: "a", Delete: true}}}, "delete a"},
		"detached": {part{Items: []item{{Key: "a", Delete: true, Policy: reconcile.Detach}}},
			part{Items: []item{{Key: "a", Delete: true}}}, "delete a"},
		"left out": {part{Items: []item{{Key: "a"}}},
			part{Skip: "it is disabled", Items: []item{{Key: "a", Delete: true}}}, ""},
		"no longer so": {part{Skip: "it is disabled", Items: []item{{Key: "a", Delete: true}}},
			part{Items: []item{{Key: "a", Delete: true}}}, "delete a"},
		"elsewhere": {part{Target: "one", Items: []item{{Key: "a", Delete: true}}},
			part{Target: "two", Items: []item{{Key: "a", Delete: true}}}, "delete a"},
		"replaced": {part{Items: []item{{Key: "a", Body: "x"}}}, part{Items: []item{{Key: "a", Body: "destroy"}}},
			"delete a"},
	} {
		sides := map[string]part{"base": c.base, "head": c.head}
		s := &shelf{with: func(i *native.Recipe) {
			i.Class, i.Offline = reconcile.Knowing, true // without a state nobody can be asked
			i.Replaces = func(_, head item) bool { return head.Body == "destroy" }
			i.Desired = func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
				raw, err := query(ctx, "", nil)
				p := sides[strings.Trim(string(raw), `"`)]
				p.Shard, p.Caller = "north", "north"
				return native.Desired{Parts: []part{p}}, err
			}
		}}
		said, err := s.run(t, `"base"`, `"head"`, true, nil)
		if effects, _ := effectsOf(said); err != nil || strings.Join(effects, " ") != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, effects, err, c.want)
		}
	}
}

// What could not be read at a target that was asked is told by the data, with each kind of effect.
func TestUnreadThingsAreToldByTheData(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.with = func(i *native.Recipe) {
		i.Offline = true
		i.Current = func(context.Context, integration.Environment, native.Part) (native.Current, error) {
			gone := errors.New("nobody answers")
			return native.Current{Unread: map[reconcile.Key]error{"a": gone, "b": gone, "c": gone}}, nil
		}
	}
	said, err := s.run(t, `{"north": {"a": "Atlas", "b": "Bible", "d": "Comic"}}`,
		`{"north": {"a": "!", "b": "Comic", "c": "Comic", "d": "Comic"}}`, true, wide)
	effects, unlooked := effectsOf(said)
	if want := "change b create c create d delete a"; err != nil || strings.Join(effects, " ") != want ||
		len(unlooked) != 1 {
		t.Errorf("got %q and %q, %v, want %q", effects, unlooked, err, want)
	}
}

// Where a run may delete what no step of the data names, nobody looked.
func TestPartsThatMayLoseThings(t *testing.T) {
	type item = reconcile.Item
	type part = native.Part
	for name, c := range map[string]struct {
		class      reconcile.Class
		base, head part
		want       string
	}{
		"at another target": {reconcile.Knowing, part{Target: "one", Items: []item{{Key: "a"}}},
			part{Target: "two", Items: []item{{Key: "a"}}}, "drift north, removed north"},
		"the same": {reconcile.Knowing, part{Items: []item{{Key: "a"}}}, part{Items: []item{{Key: "a"}}},
			"drift north"},
		"gone while it was deleted": {reconcile.Knowing, part{Items: []item{{Key: "a", Delete: true}}}, part{},
			"drift north, removed north"},
		"gone": {reconcile.Knowing, part{Items: []item{{Key: "a"}}}, part{}, "drift north"},
		"no longer left out": {reconcile.Listing, part{Skip: "it is disabled"},
			part{Target: "new", Items: []item{{Key: "a"}}}, "create a, drift north, removed north"},
		"an entry no longer left out": {reconcile.Knowing, part{Skip: "it is disabled", Items: []item{{Key: "a"}}},
			part{Items: []item{{Key: "a"}}}, "create a, drift north"},
		"gone, and no longer left out": {reconcile.Listing,
			part{Skip: "it is disabled", Items: []item{{Key: "a", Delete: true}}}, part{Target: "new"},
			"delete a, drift north, removed north"},
	} {
		sides := map[string]part{"base": c.base, "head": c.head}
		s := &shelf{with: func(i *native.Recipe) {
			i.Class, i.Offline = c.class, true
			i.Desired = func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
				raw, err := query(ctx, "", nil)
				p := sides[strings.Trim(string(raw), `"`)]
				p.Shard, p.Caller = "north", "north"
				return native.Desired{Parts: []part{p}}, err
			}
		}}
		said, err := s.run(t, `"base"`, `"head"`, true, nil)
		got, unlooked := effectsOf(said)
		for _, u := range unlooked {
			u, _, _ = strings.Cut(strings.TrimPrefix(u, "unlooked "), ":")
			got = append(got, u)
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
}
