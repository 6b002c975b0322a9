package native_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// The things of a part that the data want to go pass the limits on deletions; those of others do
// not.
func TestClearedParts(t *testing.T) {
	for _, c := range []struct {
		name    string
		isClear bool
		base    string
		change  func(*integration.Environment)
		want    string // a part of what is said
		left    int
	}{
		{name: "it is cleared", isClear: true},
		{name: "it is emptied by mistake", want: "error EMPTY_DESIRED", left: 30},
		{name: "a change clears it", isClear: true, base: "full", want: "delete north-0", left: 30},
		{name: "a change empties it", base: "full", want: "error EMPTY_DESIRED", left: 30},
		{name: "deletions are off", isClear: true, change: func(e *integration.Environment) { e.Settings.Deletes.Off = true },
			want: "error DELETE", left: 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
			var full []string
			for i := range 30 {
				key := fmt.Sprintf("north-%d", i)
				s.put(reconcile.Key(key), reconcile.Thing{Body: "A", Mark: reconcile.Mark{Integration: "books", Caller: "north"}})
				full = append(full, fmt.Sprintf("%q: %q", key, "A"))
			}
			s.desire = func(d *native.Desired) {
				for i := range d.Parts {
					d.Parts[i].Clear = c.isClear && len(d.Parts[i].Items) == 0
				}
			}
			base := ""
			if c.base != "" {
				base = `{"north": {` + strings.Join(full, ", ") + `}}`
			}
			said, err := s.run(t, base, `{"north": {}}`, c.base != "", c.change)
			if !strings.Contains(said, c.want) || c.want == "" && said != "" || err != nil {
				t.Errorf("got %q, %v, want %q", said, err, c.want)
			}
			if got := len(s.things); got != c.left {
				t.Errorf("%d things are left (%q), want %d", got, slices.Sorted(maps.Keys(s.things)), c.left)
			}
		})
	}
}
