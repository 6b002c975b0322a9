package reconcile_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A gate says in words why it refuses. The limits themselves are still allowed.
func TestDecide(t *testing.T) {
	keys := func(n int) (out []reconcile.Key) {
		for i := range n {
			out = append(out, reconcile.Key('a'+rune(i)))
		}
		return out
	}
	of := func(n, managed int) reconcile.Deletions {
		return reconcile.Deletions{Keys: keys(n), Managed: managed, Desired: 1}
	}
	today := time.Date(2026, 5, 6, 23, 0, 0, 0, time.UTC)
	limits := reconcile.DefaultLimits()
	approved := func(until string) reconcile.Gate {
		g := reconcile.Gate{Limits: reconcile.Limits{Off: true}, Today: today}
		for _, k := range keys(2) {
			g.Approvals = append(g.Approvals, reconcile.Approval{Key: k, Until: until})
		}
		return g
	}
	const off = "deletions are off: approve each of them in the settings of base"
	for _, tt := range []struct {
		name string
		gate reconcile.Gate
		of   reconcile.Deletions
		want reconcile.Refusal
	}{
		{"nothing", reconcile.Gate{Refused: reconcile.Refusal{Code: "x"}}, of(0, 1), reconcile.Refusal{}},
		{"somebody else refused", reconcile.Gate{Limits: limits, Refused: reconcile.Refusal{Code: "x", Reason: "why"}},
			of(1, 1),
			reconcile.Refusal{Code: "x", Reason: "why", Keys: keys(1)}},
		{"not all was read", reconcile.Gate{Limits: limits}, reconcile.Deletions{Keys: keys(1), Desired: 1, Incomplete: true},
			reconcile.Refusal{Code: reconcile.CodeIncomplete, Reason: "not all could be read, so nothing is deleted",
				Keys: keys(1)}},
		{"nothing is desired", reconcile.Gate{Limits: limits}, reconcile.Deletions{Keys: keys(1)},
			reconcile.Refusal{Code: reconcile.CodeEmpty,
				Reason: "nothing is desired, so nothing is deleted: say delete: true for each thing that must go", Keys: keys(1)}},
		{"nothing may be desired", reconcile.Gate{Limits: limits, MayEmpty: true}, reconcile.Deletions{Keys: keys(1)},
			reconcile.Refusal{}},
		{"off", reconcile.Gate{Limits: reconcile.Limits{Off: true, Floor: 9}}, of(1, 100),
			reconcile.Refusal{Code: reconcile.CodeDelete, Reason: off, Keys: keys(1)}},
		{"off, and approved today", approved("2026-05-06"), of(2, 2), reconcile.Refusal{}},
		{"off, and approved until yesterday", approved("2026-05-05"), of(2, 2),
			reconcile.Refusal{Code: reconcile.CodeDelete, Reason: off, Keys: keys(2)}},
		{"off, and two of three approved", approved("2026-12-31"), of(3, 3),
			reconcile.Refusal{Code: reconcile.CodeDelete, Reason: off, Keys: keys(3)[2:]}},
		{"off, and approved without a date", approved("soon"), of(2, 2),
			reconcile.Refusal{Code: reconcile.CodeDelete, Reason: off, Keys: keys(2)}},
		{"the floor", reconcile.Gate{Limits: limits}, of(3, 3), reconcile.Refusal{}},
		{"above the floor", reconcile.Gate{Limits: limits}, of(4, 19),
			reconcile.Refusal{Code: reconcile.CodeTooMany, Keys: keys(4),
				Reason: "more deletions (4) than 20 % of the things that are ours (19), and than the floor (3): confirm them with --confirm-deletions " + of(4, 0).Digest()}},
		{"the share", reconcile.Gate{Limits: limits}, of(4, 20), reconcile.Refusal{}},
		{"the largest number", reconcile.Gate{Limits: limits}, of(10, 50), reconcile.Refusal{}},
		{"above the largest number", reconcile.Gate{Limits: limits}, of(11, 1000),
			reconcile.Refusal{Code: reconcile.CodeTooMany, Keys: keys(11),
				Reason: "more deletions (11) than max allows (10): confirm them with --confirm-deletions " + of(11, 0).Digest()}},
		{"confirmed", reconcile.Gate{Limits: limits, Confirmed: of(11, 0).Digest()}, of(11, 1000), reconcile.Refusal{}},
		{"others confirmed", reconcile.Gate{Confirmed: of(2, 0).Digest()}, of(1, 2),
			reconcile.Refusal{Code: reconcile.CodeTooMany, Keys: keys(1),
				Reason: "more deletions (1) than max allows (0): confirm them with --confirm-deletions " + of(1, 0).Digest()}},
	} {
		if got := tt.gate.Decide(tt.of); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

// Entries of one key are held, and the files in which they stand are named if there are several, up to three.
func TestDuplicates(t *testing.T) {
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{[]string{"/a", "/a"}, "2 entries have this key"},
		{[]string{"/b", "/a"}, "2 entries have this key: /a, /b"},
		{[]string{"/c", "/b", "/a", "/a"}, "4 entries have this key: /a, /b, /c"},
		{[]string{"/e", "/d", "/c", "/b", "/a"}, "5 entries have this key: /a, /b, /c, and 2 more"},
	} {
		in := reconcile.Input{Owner: reconcile.Owner{Integration: "x", Caller: "a"}, Class: reconcile.Blind, Compare: never}
		for _, file := range tt.files {
			in.Desired = append(in.Desired, reconcile.Item{Key: "k", Place: plan.Place{File: file}})
		}
		p := reconcile.Make(in)
		if len(p.Steps) != 1 || p.Steps[0].Action != reconcile.Blocked || p.Steps[0].Reason != tt.want ||
			len(p.Findings) != 1 || p.Findings[0].Message != tt.want {
			t.Errorf("%q: got %+v, %+v", tt.files, p.Steps, p.Findings)
		}
	}
}

// The digest of deletions is that of their keys in any order, and where one ends counts.
func TestDigestOfDeletions(t *testing.T) {
	digest := func(keys ...reconcile.Key) string {
		given := slices.Clone(keys)
		got := reconcile.Deletions{Keys: keys, Managed: len(keys)}.Digest()
		if !slices.Equal(keys, given) {
			t.Errorf("the keys were changed: %q", keys)
		}
		return got
	}
	if digest("a", "b") != digest("b", "a") || digest("a", "b") == digest("a") || digest("ab") == digest("a",
		"b") || digest("a\n1:b") == digest("a", "b") {
		t.Error("deletions are taken for others")
	}
	// People pass it from a run to another one, perhaps of another version: printf '1:a\n1:b\n' | sha256sum.
	if got, want := digest("b", "a"),
		"sha256:700dfd192c1fa8813a20119f60fac69bdaf8fbd38520b4fa5b0a21d00621d59b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The deletions of two shards are counted together. That one was not read whole says nothing about both.
func TestPlus(t *testing.T) {
	got := reconcile.Deletions{Keys: []reconcile.Key{"a"}, Managed: 2, Desired: 3,
		Incomplete: true}.Plus(reconcile.Deletions{Keys: []reconcile.Key{"b"}, Managed: 5, Desired: 7})
	if want := (reconcile.Deletions{Keys: []reconcile.Key{"a", "b"}, Managed: 7, Desired: 10}); !reflect.DeepEqual(got,
		want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
