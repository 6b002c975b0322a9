package native_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

// bookOf returns a book with the mark of a shard.
func bookOf(caller string) reconcile.Thing {
	return reconcile.Thing{Body: "Atlas", Mark: reconcile.Mark{Integration: "books", Caller: caller}}
}

func (s *shelf) put(key reconcile.Key, th reconcile.Thing) {
	th.Key = key
	s.things[key] = th
}

// A merge request is checked shard by shard. The deletions that it asks for in all of them
// together must pass the gate as well.
func TestChangeOverManyShards(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	for _, k := range []reconcile.Key{"a-1", "a-2", "a-3", "a-4", "a-5"} {
		s.put(k, bookOf("a"))
		s.put("b"+k[1:], bookOf("b"))
	}
	base := `{"a": {"a-1": "Atlas", "a-2": "Atlas", "a-3": "Atlas", "a-4": "Atlas", "a-5": "Atlas"}, "b": {"b-1": "Atlas", "b-2": "Atlas", "b-3": "Atlas", "b-4": "Atlas", "b-5": "Atlas"}}`
	head := `{"a": {"a-1": "!", "a-3": "Atlas", "a-4": "Atlas", "a-5": "Atlas"}, "b": {"b-3": "Atlas", "b-4": "Atlas", "b-5": "Atlas"}}`
	for _, shard := range []string{"a", "b"} {
		said, err := s.run(t, base, head, true, func(e *integration.Environment) { e.Shard = shard })
		if err != nil || strings.Count(said, "TOO_MANY_DELETES") != 1 ||
			!strings.Contains(said, "the change asks for 4 deletions in all shards: more deletions (4) than 20 %") {
			t.Errorf("shard %s: got %q, %v", shard, said, err)
		}
	}
	said, err := s.run(t, base, strings.Replace(head, `"a-1": "!"`, `"a-1": "Atlas"`, 1), true,
		func(e *integration.Environment) { e.Shard = "a" })
	if err != nil || strings.Contains(said, "TOO_MANY") {
		t.Errorf("three deletions are within the floor: got %q, %v", said, err)
	}
}

// Two parts that see the same system do not delete what the other one wants.
func TestPartsLeaveEachOtherAlone(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, seesAll: true}
	for _, k := range []reconcile.Key{"a-1", "b-1", "old"} {
		s.put(k, bookOf("one"))
	}
	said, err := s.run(t, "", `{"a": {"a-1": "Atlas"}, "b": {"b-1": "Atlas"}}`, true, func(e *integration.Environment) {
		wide(e)
		e.Shard = "a"
	})
	if err != nil || said != "delete old" {
		t.Errorf("got %q, %v", said, err)
	}
}

// What is wrong with the thing of an entry that the change does not touch is old.
func TestForeignThingOfBase(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.put("a-1", reconcile.Thing{Body: "Atlas"})
	s.put("a-2", reconcile.Thing{Body: "Atlas"})
	base := `{"a": {"a-1": "Atlas", "a-2": "Atlas"}}`
	for head, want := range map[string]string{
		`{"a": {"a-1": "Atlas", "a-2": "Atlas", "a-3": "Comic"}}`: "old NOT_ADOPTED\nold NOT_ADOPTED\ncreate a-3",
		`{"a": {"a-1": "Bible", "a-2": "Atlas"}}`:                 "old NOT_ADOPTED\nerror NOT_ADOPTED a-1",
		// another caller: owners are judged anew
		`{"a": {"a-1": "Atlas", "a-2": "Atlas"}, "b": {"b": "New"}}`: "error NOT_ADOPTED a-1\nerror NOT_ADOPTED a-2\nnote NEW_TARGET b",
	} {
		said, err := s.run(t, base, head, true, nil)
		for line := range strings.SplitSeq(want, "\n") {
			if err != nil || !strings.Contains(said, line) || strings.Count(said, "old") != strings.Count(want, "old") {
				t.Errorf("%s: got %q, %v, want %q", head, said, err, line)
			}
		}
	}
}

// A target that was not read as a whole is told, also if nothing would be deleted.
func TestIncompleteIsTold(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, partly: errors.New("page 2 could not be read")}
	said, err := s.run(t, "", `{"a": {"a-1": "Atlas"}}`, true, nil)
	if err != nil ||
		!strings.Contains(said, "error INCOMPLETE a: not everything could be read: page 2 could not be read") ||
		!strings.Contains(said, "create a-1") {
		t.Errorf("got %q, %v", said, err)
	}
}

// A change that takes the last entry of a target away is told that nobody looks there any more.
func TestTargetGoes(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: "b"}
	said, err := s.run(t, `{"a": {"a-1": "Atlas"}, "b": {"b-1": "Atlas"}}`, `{"a": {"a-1": "Atlas"}}`, true, nil)
	if err != nil ||
		!strings.Contains(said, "warning ORPHAN b-1: this change removes its entry, and then nobody deletes it") {
		t.Errorf("got %q, %v", said, err)
	}
}

// A key that is no text for a terminal cannot forge lines of the log, and a long one is cut.
func TestHostileKeys(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	var log strings.Builder
	_, err := s.run(t, "", `{"a": {"x\n::error::forged\u001b[31m": "Atlas", "": "Atlas", "`+strings.Repeat("k", 100_000)+
		`": "Atlas"}}`, true,
		func(e *integration.Environment) { e.Log = &log })
	if err != nil || strings.Contains(log.String(), "\n::error") || strings.Contains(log.String(), "\x1b") ||
		log.Len() > 2000 || !strings.Contains(log.String(), "(no key): it has no key") {
		t.Errorf("got %q, %v", log.String(), err)
	}
}

// A system without conditional writes is told.
func TestUnconditional(t *testing.T) {
	n := native.Make(native.Recipe{Name: "x", Unconditional: true, Desired: func(context.Context, integration.QueryFunc,
		settings.Integration) (native.Desired, error) {
		return native.Desired{Parts: []native.Part{{Skip: "it is switched off"}}}, nil
	}})
	var codes []string
	err := n.DryRun(t.Context(), integration.Environment{Report: func(f integration.Remark) {
		codes = append(codes, string(f.Code))
	}})
	if err != nil || len(codes) != 1 || codes[0] != "NO_LOCK" {
		t.Errorf("got %q, %v", codes, err)
	}
}

// A body of which JSON shows only a part cannot prove anything.
func TestBodyIsCompared(t *testing.T) {
	type hidden struct{ n int }
	type inner struct {
		Shown  int
		Hidden int `json:"-"`
	}
	for name, body := range map[string]any{
		"unexported": hidden{1}, "left out": inner{1, 2}, "in a list": []any{inner{}},
		"in a map": map[string]*hidden{"x": {1}}, "behind a pointer": &inner{},
	} {
		n := native.Make(native.Recipe{Name: "x", Desired: func(context.Context, integration.QueryFunc,
			settings.Integration) (native.Desired, error) {
			return native.Desired{Parts: []native.Part{{Items: []reconcile.Item{{Key: "k", Body: body}}}}}, nil
		}})
		_, err := n.(integration.Stater).DesiredState(t.Context(), nil, settings.Integration{})
		if err == nil || !strings.Contains(err.Error(), "is not a part of its JSON") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
