package main

import (
	"io"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/laws/broken"
)

// A seeded part of the law.
func TestLaw(t *testing.T) {
	n := uint64(20_000)
	if testing.Short() {
		n = 2_000
	}
	if code := holdAll(io.Discard, 38, n); code != 0 {
		var out strings.Builder
		holdAll(&out, 38, n)
		t.Error(out.String())
	}
}

// Every mutant is a change of a text that stands once in its file.
func TestMutantsFit(t *testing.T) {
	all, err := broken.Read(mutants)
	if err != nil || len(all) < 30 {
		t.Fatalf("%d mutants, %v", len(all), err)
	}
	for _, m := range all {
		if _, err := m.Apply("../.."); err != nil {
			t.Error(err)
		}
	}
}

// Each way of merging accounts for every request of a stream, and is the same each time. Only the way by labels breaks
// the branch.
func TestStream(t *testing.T) {
	p, err := readParameters(streamJSON)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		for _, perHour := range []float64{6, 14} {
			s := newStream(p, 3, perHour)
			a, b := w.merge(s), w.merge(newStream(p, 3, perHour))
			if a.merged+a.refused != len(s.requests) || a.merged != b.merged || a.machine != b.machine ||
				a.quantile(0.99) != b.quantile(0.99) {
				t.Errorf("%s: %d of %d, %d refused; again %d", w.name, a.merged, len(s.requests), a.refused, b.merged)
			}
			if a.breaks > 0 && w.name != "labels" {
				t.Errorf("%s: the branch is broken %d times", w.name, a.breaks)
			}
		}
	}
}

// With nothing in between a request that holds is merged within half a minute, and runs nothing.
func TestNothingInBetween(t *testing.T) {
	p, err := readParameters(streamJSON)
	if err != nil {
		t.Fatal(err)
	}
	p.Young = 1
	s := newStream(p, 1, 1)
	s.requests = s.requests[:1]
	s.requests[0].ownAt = s.requests[0].at - 10
	if a := prove(s, 60); a.merged != 1 || a.waits[0] > 0.5 || a.machine != 0 {
		t.Errorf("got %+v", a)
	}
}

// Parameters that make no stream are an error.
func TestBadParameters(t *testing.T) {
	for _, text := range []string{"", "{", "{}", `{"hours":8}`, `{"hours":"x"}`} {
		if _, err := readParameters([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
