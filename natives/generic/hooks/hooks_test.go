package hooks

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const scaleSet = "Microsoft.Compute/virtualMachineScaleSets@2019-07-01"

func TestHooksOfAResource(t *testing.T) {
	hook := func(name, types string, byName bool) *Hook {
		return &Hook{Name: name, Types: types, ByName: byName, PostReconcile: func(context.Context, Subject) error {
			return nil
		}}
	}
	r, err := New(0, hook("c", "P/a/**", false), hook("b", "p/*", false), hook("a", "P/a", true))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of    string
		named []string
		want  string
	}{
		{"P/A@1", nil, "b"}, {"p/a", []string{"a"}, "ab"}, {"P/a/b@1", []string{"a"}, "c"}, {"P/a/b/c", nil, "c"},
		{"Q/a", nil, ""}, {"P/ab/c", nil, ""},
	} {
		got := ""
		for _, h := range r.of(Subject{Type: c.of, Named: c.named}) {
			got += h.Name
		}
		if got != c.want {
			t.Errorf("%s: got the hooks %q, want %q", c.of, got, c.want)
		}
	}
}

func TestRegistryRefuses(t *testing.T) {
	act := func(context.Context, Subject) error { return nil }
	for _, c := range []struct {
		hooks []*Hook
		want  string
	}{
		{[]*Hook{{Name: "a", Types: "x", PostReconcile: act}, {Name: "a", Types: "y", PostReconcile: act}},
			`there are two hooks "a"`},
		{[]*Hook{{Name: "a", Types: "x"}}, `hook "a" does nothing`},
		{[]*Hook{{Name: "a", Types: "[x", PostReconcile: act}}, `hook "a": the pattern "[x" is broken`},
		{[]*Hook{{Types: "x", PostReconcile: act}}, "a hook needs a name and types"},
	} {
		if _, err := New(0, c.hooks...); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, c := range []struct{ of, name, want string }{
		{scaleSet, "azure-autoscaled-capacity", ""},
		{scaleSet, "azure-autoscaled-capacities",
			`there is no hook "azure-autoscaled-capacities"; do you mean "azure-autoscaled-capacity"?`},
		{"P/t", "x", `there is no hook "x"`},
		{"P/t", "azure-autoscaled-capacity",
			`the hook "azure-autoscaled-capacity" is about Microsoft.Compute/virtualMachineScaleSets, not about P/t`},
	} {
		got := ""
		if err := Default().CheckName(c.of, c.name); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.of, c.name, got, c.want)
		}
	}
}

// A hook that fails in any way fails its resource only: the next resource is worked on.
func TestFailuresAreOfOneResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New(time.Second,
			&Hook{Name: "h", Types: "T", MutateDesired: func(ctx context.Context, x Subject) (any, error) {
				body := x.Desired.(map[string]any)
				switch x.ID {
				case "panic":
					panic(body["secret"])
				case "late":
					<-ctx.Done()
				case "error":
					return nil, errors.New("no")
				}
				body["secret"] = "changed"
				return body, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ id, want string }{
			{"panic", "hook h at MutateDesired: it panicked at hooks.TestFailuresAreOfOneResource"},
			{"late", "hook h at MutateDesired: it took too long and was given up"},
			{"error", "hook h at MutateDesired: no"},
			{"good", ""},
		} {
			x := Subject{Type: "T", ID: c.id, Desired: map[string]any{"secret": "canary"}}
			got, err := r.MutateDesired(t.Context(), x)
			switch {
			case c.want == "" && (err != nil || !reflect.DeepEqual(got, map[string]any{"secret": "changed"})):
				t.Errorf("%s: got %v, %v", c.id, got, err)
			case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want) || got != nil):
				t.Errorf("%s: got %v, %v, want %s", c.id, got, err, c.want)
			case err != nil && strings.Contains(err.Error(), "canary"):
				t.Errorf("%s: the error shows a value: %v", c.id, err)
			case !reflect.DeepEqual(x.Desired, map[string]any{"secret": "canary"}):
				t.Errorf("%s: the hook changed its argument", c.id)
			}
		}
	})
}

// A hook that ignores the end of its time is not called again until it returns, so it cannot
// leave more and more goroutines.
func TestOverrunningHookIsNotCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, stop := 0, make(chan struct{})
		r, err := New(time.Second, &Hook{Name: "h", Types: "T", PostReconcile: func(context.Context, Subject) error {
			calls++
			<-stop
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		x := Subject{Type: "T"}
		for i, want := range []error{ErrTimeout, ErrLeft, ErrLeft} {
			if err := r.PostReconcile(t.Context(), x); !errors.Is(err, want) {
				t.Errorf("call %d: got %v, want %v", i, err, want)
			}
		}
		close(stop)
		synctest.Wait()
		if err := r.PostReconcile(t.Context(), x); err != nil || calls != 2 {
			t.Errorf("after its end: got %v and %d calls, want nil and 2", err, calls)
		}
	})
}

// Each stage runs what a hook does there, and passes the result on to the next hook.
func TestStages(t *testing.T) {
	add := func(word string) func(context.Context, Subject) (any, error) {
		return func(_ context.Context, x Subject) (any, error) {
			old, _ := x.Desired.(string)
			if x.Live != nil {
				old = x.Live.(string)
			}
			return old + word, nil
		}
	}
	one := &Hook{Name: "1", Types: "*", MutateDesired: add("1"), PostRead: add("1"), Import: add("1"),
		PreReconcile: func(context.Context, Subject) (Ready, error) {
			return Ready{First: []Request{{Path: "1"}}, Set: map[string]any{"/a": 1}}, nil
		},
		Compare: func(context.Context, Subject) ([]Leave, error) { return []Leave{{At: "/1"}}, nil },
		MutateRequest: func(_ context.Context, _ Subject, q Request) (Request, error) {
			q.Path += "1"
			return q, nil
		},
		ClassifyError: func(context.Context, Subject, Failure) (Class, error) { return "", nil },
	}
	two := &Hook{Name: "2", Types: "*", MutateDesired: add("2"), PostRead: add("2"), Import: add("2"),
		PreReconcile:  func(context.Context, Subject) (Ready, error) { return Ready{First: []Request{{Path: "2"}}}, nil },
		Compare:       func(context.Context, Subject) ([]Leave, error) { return []Leave{{At: "/2"}}, nil },
		MutateRequest: one.MutateRequest,
		ClassifyError: func(context.Context, Subject, Failure) (Class, error) { return "slow", nil },
		PreDelete:     func(context.Context, Subject) (Ready, error) { return Ready{Decision: Block, Reason: "no"}, nil },
	}
	r, err := New(0, two, one)
	if err != nil {
		t.Fatal(err)
	}
	x := Subject{Type: "t", Desired: "0"}
	ctx := t.Context()
	check := func(stage Stage, want any) func(any, error) {
		return func(got any, err error) {
			t.Helper()
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, %v, want %v", stage, got, err, want)
			}
		}
	}
	check(MutateDesired, "012")(r.MutateDesired(ctx, x))
	check(Import, "012")(r.Import(ctx, x))
	check(PostRead, "l12")(r.PostRead(ctx, Subject{Type: "t", Live: "l"}))
	first, err := r.PreReconcile(ctx, x)
	check(PreReconcile, Ready{First: []Request{{Path: "1"}, {Path: "2"}}, Set: map[string]any{"/a": 1}})(first, err)
	left, err := r.Compare(ctx, x)
	check(Compare, []Leave{{At: "/1"}, {At: "/2"}})(left, err)
	sent, err := r.MutateRequest(ctx, x, Request{})
	check(MutateRequest, Request{Path: "11"})(sent, err)
	class, err := r.ClassifyError(ctx, x, Failure{})
	check(ClassifyError, Class("slow"))(class, err)
	ready, err := r.PreDelete(ctx, x)
	check(PreDelete, Ready{Decision: Block, Reason: "no"})(ready, err)
}
