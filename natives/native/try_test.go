package native_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// trial are settings that allow to try.
func trial(e *integration.Environment) {
	e.Trial = func(context.Context, integration.ClusterRef) (integration.ClusterTrial, error) { return nil, nil }
}

// A dry run whose settings allow it tries what would be created and changed, and says so. A run
// does not.
func TestTry(t *testing.T) {
	const data = `{"north": {"a": "Atlas", "b": "Bible", "c": "Comic", "d": "Diary"}}`
	var tried []string
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	s.with = func(i *native.Recipe) {
		i.Try = func(_ context.Context, _ integration.Environment, p native.Part,
			step reconcile.Step) ([]reconcile.Change, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			tried = append(tried, string(step.Action)+" "+string(step.Key))
			switch step.Key {
			case "b":
				return nil, errors.New("the shelf is full")
			case "c":
				panic("oops")
			}
			return []reconcile.Change{{Path: "/title", Old: "old", New: "as the server says"}}, nil
		}
	}
	s.put("b", reconcile.Thing{Body: "old", Mark: reconcile.Mark{Integration: "books", Caller: "north"}})
	s.put("d", reconcile.Thing{Body: "Diary", Mark: reconcile.Mark{Integration: "books", Caller: "north"}})
	s.put("north-old", bookOf("north"))
	for _, c := range []struct {
		name      string
		isDry     bool
		base      string
		allow     func(*integration.Environment)
		tried     string
		want, log []string
	}{
		{"by reads alone", true, "", nil, "",
			[]string{"note TRIED compared by reads alone: what the server itself refuses is not known", "create a", "change b",
				"create c", "delete north-old"}, []string{`  /: "old" -> "Bible"`}},
		{"by the server", true, "", trial, "create a, create c, update b", []string{
			"note TRIED tried by the server: what would be created and changed was sent to it with dryRun=All",
			"error TRIED b: the server refuses it: the shelf is full",
			"error TRIED c: the server refuses it: panic at native_test.TestTry.func1.1, line N", "create a",
			"delete north-old"},
			[]string{`  /title: "old" -> "as the server says"`, "steps: 2 blocked, 1 create, 1 delete; errors: 2"}},
		{"of what base has as well", true, data, trial, "create a, create c, update b", []string{
			"note TRIED tried by the server: what would be created and changed was sent to it with dryRun=All", "old TRIED",
			"old TRIED", "create a", "delete north-old"}, nil},
		{"in a run", false, "", trial, "", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tried = nil
			var log bytes.Buffer
			said, err := s.run(t, c.base, data, c.isDry, func(e *integration.Environment) {
				e.Log = &log
				if c.allow != nil {
					c.allow(e)
				}
			})
			said = regexp.MustCompile(`line \d+`).ReplaceAllString(said, "line N")
			slices.Sort(tried)
			if got := strings.Join(tried, ", "); got != c.tried || said != strings.Join(c.want, "\n") || err != nil {
				t.Errorf("tried %q, said\n%s\n%v\nwant %q and\n%s", got, said, err, c.tried, strings.Join(c.want, "\n"))
			}
			for _, line := range c.log {
				if !strings.Contains(log.String(), line+"\n") {
					t.Errorf("the log has no %q:\n%s", line, &log)
				}
			}
		})
	}
}
