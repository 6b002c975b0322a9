package native_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Completing gives entries what only services know. It cannot change which entries there are, and
// nothing but them.
func TestComplete(t *testing.T) {
	for _, c := range []struct {
		name     string
		complete func(p native.Part) (native.Part, error)
		want     string // of a dry run
		error    string
	}{
		{"the bodies", func(p native.Part) (native.Part, error) {
			for i := range p.Items {
				p.Items[i].Body = "Atlas, second edition"
			}
			return p, nil
		}, "", ""},
		{"a mistake of an entry", func(p native.Part) (native.Part, error) {
			p.Items[0].Mistake = reconcile.Mistake{Code: "NO_EDITION", Message: "nobody knows it"}
			return p, nil
		}, "error NO_EDITION a: nobody knows it", ""},
		{"an error", func(native.Part) (native.Part, error) { return native.Part{}, errors.New("the printer is away") },
			"error UNREACHABLE north: the printer is away", "the printer is away"},
		{"another entry", func(p native.Part) (native.Part, error) {
			p.Items = append(p.Items, reconcile.Item{Key: "b"})
			return p, nil
		}, "error UNREACHABLE north: completing it changed which entries it has, which is a mistake of the integration",
			"completing it"},
		{"another target", func(p native.Part) (native.Part, error) {
			p.Shard, p.Caller, p.Target, p.Skip = "south", "south", "south", "no"
			return p, nil
		}, "change a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, with: func(i *native.Recipe) {
				current := i.Current
				i.Complete = func(_ context.Context, _ integration.Environment, p native.Part) (native.Part, error) {
					p.Items = slices.Clone(p.Items)
					return c.complete(p)
				}
				i.Current = func(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
					if p.Target != "north" || p.Caller != "north" {
						t.Errorf("the part is %+v", p)
					}
					return current(ctx, env, p)
				}
			}}
			s.put("a", reconcile.Thing{Body: "Atlas, second edition",
				Mark: reconcile.Mark{Integration: "books", Caller: "north"}})
			said, err := s.run(t, "", `{"north": {"a": "Atlas"}}`, true, nil)
			if said != c.want || (err == nil) != (c.error == "") || err != nil && !strings.Contains(err.Error(), c.error) {
				t.Errorf("got %q, %v; want %q, %q", said, err, c.want, c.error)
			}
		})
	}
}

// What does not work after it was written fails the run, and is told as failed. It is waited for
// before anything is deleted, and deletions are done all the same.
func TestSettle(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.put("north-old", bookOf("north"))
	s.with = func(i *native.Recipe) {
		i.Settle = func(_ context.Context, _ integration.Environment, p native.Part,
			done []reconcile.Step) map[reconcile.Key]error {
			if _, isThere := s.things["north-old"]; !isThere || p.Shard != "north" || len(done) != 2 {
				t.Errorf("called for %q with %d steps, when %v is there", p.Shard, len(done), s.things)
			}
			return map[reconcile.Key]error{"a": errors.New("the pages are loose")}
		}
	}
	var deeds []string
	_, err := s.runWith(t, `{"north": {"a": "Atlas", "b": "Bible"}}`, nil,
		integration.Actors{Did: func(d integration.Deed) {
			deeds = append(deeds, strings.TrimSpace(d.Action+" "+d.Key+" "+d.Status+" "+d.Error))
		}})
	slices.Sort(deeds)
	want := []string{"create a done", "create a failed the pages are loose", "create b done", "delete north-old done"}
	if err == nil || err.Error() != "north: a: create: the pages are loose" || !slices.Equal(deeds, want) {
		t.Errorf("got %v and %q, want %q", err, deeds, want)
	}
}

// Kept things stay, and the note says why one is not deleted.
func TestKeptThings(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.put("north-1", bookOf("north"))
	s.put("north-2", bookOf("north"))
	s.with = func(i *native.Recipe) {
		current := i.Current
		i.Current = func(ctx context.Context, env integration.Environment, p native.Part) (native.Current, error) {
			c, err := current(ctx, env, p)
			c.Kept = map[reconcile.Key]string{"north-1": "it belongs to a reader"}
			return c, err
		}
	}
	for _, isDry := range []bool{true, false} {
		said, err := s.run(t, "", `{"north": {"north-2": "Bible"}}`, isDry, nil)
		if !strings.Contains(said, "note KEPT north-1: no entry names it, and it is kept: it belongs to a reader") ||
			strings.Contains(said, "delete") || err != nil {
			t.Errorf("got %q, %v", said, err)
		}
	}
	if len(s.things) != 2 || s.things["north-2"].Body != "Bible" {
		t.Errorf("there is %v", s.things)
	}
}

// The limits of the integration hold where the settings say nothing.
func TestLimits(t *testing.T) {
	one := 1
	for _, c := range []struct {
		name   string
		limits *reconcile.Limits
		floor  *int
		want   int // deletions
	}{
		{"those of everybody", nil, nil, 3},
		{"its own", &reconcile.Limits{Max: 9, Floor: 2}, nil, 0},
		{"those of the settings", &reconcile.Limits{Max: 9, Percent: 50, Floor: 3}, &one, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, with: func(i *native.Recipe) { i.Limits = c.limits }}
			for _, k := range []reconcile.Key{"north-1", "north-2", "north-3", "a"} {
				s.put(k, bookOf("north"))
			}
			said, err := s.run(t, "", `{"north": {"a": "Atlas"}}`, true, func(e *integration.Environment) {
				e.Settings.Deletes.Floor = c.floor
			})
			if strings.Count(said, "delete ") != c.want || strings.Contains(said, "TOO_MANY") != (c.want == 0) || err != nil {
				t.Errorf("got %q, %v", said, err)
			}
		})
	}
}

// A target that base knows may be asked, also if no part of base is at it. One that head knows may
// not.
func TestKnownTargets(t *testing.T) {
	for name, want := range map[string]string{"base": "create n",
		"head": "note NEW_TARGET new: 1 entries are not compared"} {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		s.desire = func(d *native.Desired) {
			isHead := slices.ContainsFunc(d.Parts, func(p native.Part) bool { return p.Shard == "new" })
			if isHead == (name == "head") {
				d.Targets = []any{"new"}
			}
		}
		said, err := s.run(t, `{"north": {"a": "Atlas"}}`, `{"north": {"a": "Atlas"}, "new": {"n": "Novel"}}`, true, nil)
		if !strings.Contains(said, want) || err != nil {
			t.Errorf("known to %s: got %q, %v; want %q", name, said, err, want)
		}
	}
}

// The last parts are written when the others are done, also if these failed.
func TestLast(t *testing.T) {
	var order []string
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, failing: "b"}
	s.desire = func(d *native.Desired) {
		for i := range d.Parts {
			d.Parts[i].Last = d.Parts[i].Shard == "itself"
		}
	}
	_, err := s.runWith(t, `{"a": {"a": "A"}, "itself": {"i": "I"}, "z": {"b": "B", "z": "Z"}}`, nil,
		integration.Actors{Did: func(d integration.Deed) {
			s.mu.Lock()
			defer s.mu.Unlock()
			order = append(order, d.Key)
		}})
	if err == nil || len(order) != 4 || order[3] != "i" {
		t.Errorf("got %v in the order %q", err, order)
	}
}
