package native_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Whoever asks how things stand hears of those that could not be read.
func TestStatusOfUnreadThings(t *testing.T) {
	for _, tt := range []struct {
		unread error
		want   string
	}{
		{nil, ""},
		{errors.New("late"), "1 of 2 things could not be read, such as north-b"},
	} {
		s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
		s.with = func(i *native.Recipe) {
			i.Current = func(context.Context, integration.Environment, native.Part) (native.Current, error) {
				c := native.Current{Unread: map[reconcile.Key]error{}}
				if tt.unread != nil {
					c.Unread["north-b"] = tt.unread
				}
				return c, nil
			}
			i.Describe = func(_ context.Context, _ integration.Environment, _ native.Part, step reconcile.Step,
				_ *reconcile.Result, _ integration.Status) integration.Status {
				return integration.Status{Key: string(step.Key)}
			}
		}
		env := integration.Environment{Integration: "books",
			Query: answer(`{"north": {"north-a": "Atlas", "north-b": "Bible"}}`), Log: io.Discard, Workers: 1,
			Report: func(integration.Remark) {}}
		got, err := s.books().(integration.StatusReader).Status(t.Context(), env)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != tt.want || len(got) != 2 || got[0].Key != "north-a" || got[1].Key != "north-b" {
			t.Errorf("got %+v, %q, want %q", got, said, tt.want)
		}
	}
}
