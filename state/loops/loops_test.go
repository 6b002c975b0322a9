package loops_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/loops"
)

var noon = time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (loops.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return loops.NewStore(s), dir
}

func all(t *testing.T, s loops.Store) ([]loops.Loop, []string) {
	t.Helper()
	out, damaged, err := s.All(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return out, damaged
}

// Each loop has one document; the last good round is kept over those that fail.
func TestWrite(t *testing.T) {
	s, _ := open(t)
	for _, l := range []loops.Loop{
		{Integration: "b", Outcome: "done", Ended: noon},
		{Integration: "a", Shard: "x", Outcome: "done", Ended: noon},
		{Integration: "a", Outcome: "failed", Ended: noon},
		{Integration: "a", Shard: "x", Outcome: "failed", Ended: noon.Add(time.Hour), Errors: []string{"1", "2", "3", "4"}},
	} {
		if err := s.Write(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	list, damaged := all(t, s)
	for _, l := range list {
		got = append(got, fmt.Sprintf("%s/%s %s %s %d", l.Integration, l.Shard, l.Outcome, l.Good.Format("15"),
			len(l.Errors)))
	}
	if want := "a/ failed 00 0; a/x failed 12 3; b/ done 12 0"; strings.Join(got, "; ") != want || damaged != nil {
		t.Errorf("got %q, %q, want %q", got, damaged, want)
	}
}

// A document is bounded: what waits is kept before the rest, and what is left out is counted.
func TestBounds(t *testing.T) {
	s, _ := open(t)
	l := loops.Loop{Integration: "a", Outcome: "done", Ended: noon}
	for i := range 3000 {
		l.Units = append(l.Units, integration.Standing{Key: fmt.Sprintf("%04d", i), State: "held", Waits: i == 2999})
	}
	if err := s.Write(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	list, _ := all(t, s)
	if l := list[0]; len(l.Units) != 2000 || l.MoreUnits != 1000 || l.Units[0].Key != "2999" {
		t.Errorf("got %d units and %d more, the first is %s", len(l.Units), l.MoreUnits, l.Units[0].Key)
	}
}

// What is damaged, of another version or in another place is told, and the rest is read.
func TestDamaged(t *testing.T) {
	s, dir := open(t)
	for _, name := range []string{"a", "b"} {
		if err := s.Write(t.Context(), loops.Loop{Integration: name, Outcome: "done", Ended: noon}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "loops", "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	flow := `,"flows":[{"source":"x","stages":["s"],"commits":[{"sha":"c","passes":[]}]}]}`
	for _, bad := range []string{string(raw[:20]), strings.Replace(string(raw), `"1"`, `"9"`, 1), "[]", "",
		`{"version":"1","integration":"c","outcome":"done","ended":"2026-03-01T12:00:00Z"}`,
		strings.TrimSuffix(string(raw), "}") + flow} {
		if err := os.WriteFile(files[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, damaged := all(t, s); len(list) != 1 || len(damaged) != 1 {
			t.Errorf("%.60q: got %d loops and %q", bad, len(list), damaged)
		}
	}
}
