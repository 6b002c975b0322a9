package native_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// After a run each part tells how it stands. What could not be read is unknown, and never in step.
func TestParts(t *testing.T) {
	for name, tt := range map[string]struct {
		current native.Current
		err     error
		want    string
	}{
		"all is made": {want: "north in step map[in step:2] false"},
		"one is not read": {current: native.Current{Unread: map[reconcile.Key]error{"north-b": errors.New("late")}},
			want: "north unknown map[in step:1 unknown:1] true"},
		"the target is off": {err: errors.New("no answer"), want: "north unknown map[] true"},
	} {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		s.with = func(i *native.Recipe) {
			i.Current = func(context.Context, integration.Environment, native.Part) (native.Current, error) {
				return tt.current, tt.err
			}
		}
		var got []string
		env := integration.Environment{Integration: "books",
			Query: answer(`{"north": {"north-a": "Atlas", "north-b": "Bible"}}`), Log: io.Discard, Workers: 1,
			Report: func(integration.Remark) {},
			Stand: func(s integration.Standing) {
				got = append(got, fmt.Sprint(s.Key, " ", s.State, " ", s.Things, " ", s.Waits))
			}}
		_ = s.books().Run(t.Context(), env, integration.Actors{Did: func(integration.Deed) {}})
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
