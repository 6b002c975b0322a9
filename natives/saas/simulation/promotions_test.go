package simulation

import (
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

// TestPromotions plays a quarter, or two days of a smaller world, with the promotions of both and prints the table.
func TestPromotions(t *testing.T) {
	s := quarter
	if s.days = *days; s.days == 0 {
		s = size{files: 60, targets: 600, days: 2, merges: 10, commits: 50}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	started := time.Now()
	old := newWorld(*seed, s)
	old.openData(t)
	old.system, old.promoter = newToday(old), newSAPM(old)
	var both sync.WaitGroup
	both.Go(func() { old.play(old.system) })
	our := newWorld(*seed, s)
	our.openData(t)
	k := newKeeping(our, newOurs(our))
	our.promoter = k
	our.play(k)
	both.Wait()
	t.Logf("%d days; took %s", s.days, time.Since(started).Round(time.Second))
	for _, row := range []struct {
		name string
		of   func(f *figures) any
	}{
		{"promotions", func(f *figures) any { return f.promotions }},
		{"merge requests that were merged", func(f *figures) any { return f.mergeRequests }},
		{"pushes per promotion", func(f *figures) any { return fmt.Sprintf("%.2f", f.pushesPerPromotion()) }},
		{"pushes per merged merge request", func(f *figures) any {
			return fmt.Sprintf("%.2f", float64(f.pushes)/float64(max(f.mergeRequests, 1)))
		}},
		{"conflicts with own merge requests", func(f *figures) any { return f.ownConflicts }},
		{"conflicts with people", func(f *figures) any { return f.otherConflicts }},
		{"mean time from eligible to merged", func(f *figures) any { return meanTime(f.waits) }},
		{"subscribers that waited over a week", func(f *figures) any { return len(f.forever) }},
		{"lost triggers", func(f *figures) any { return len(f.lost) }},
	} {
		t.Logf("%-38s %10v %10v", row.name, row.of(&old.figures), row.of(&our.figures))
	}
	for _, f := range our.files {
		if text, _ := our.File(gitlabtest.DefaultBranch, f.path()); text != f.asPeopleWrite(text) ||
			flat(indented(text)) != flat(text) {
			t.Errorf("%s was written anew", f.name)
		}
	}
	if f := our.figures; f.promotions == 0 || f.ownConflicts > 0 || len(f.forever)+len(f.lost) > 0 ||
		f.pushesPerPromotion() > 1.2 {
		t.Errorf("waited %v, lost %v", few(f.forever), few(f.lost))
	}
	if s.days >= 7 && (old.ownConflicts == 0 || len(old.forever) == 0) {
		t.Error("the model of today has none of its defects, so the world does not show them")
	}
}

func (f *figures) pushesPerPromotion() float64 {
	return float64(f.pushes) / float64(max(f.promotions, 1))
}
