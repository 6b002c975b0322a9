package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A shelf is a system that holds books, by shard.
type shelf struct {
	mu     sync.Mutex
	things map[reconcile.Key]reconcile.Thing
	writes int
	broken string // shard that cannot be asked

	failing reconcile.Key // cannot be written
	seesAll bool          // every shard sees everything, and has one caller
	partly  error         // something could not be read

	address map[string]string // target of a shard with a book of this title

	with   func(*native.Recipe)  // changes the integration
	desire func(*native.Desired) // changes what the data say
}

func (s *shelf) Read(_ context.Context, k reconcile.Key) (*reconcile.Thing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.things[k]; ok {
		return &t, nil
	}
	return nil, nil
}

func (s *shelf) Write(_ context.Context, step reconcile.Step, _ *reconcile.Thing, mark reconcile.Mark) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if step.Key == s.failing {
		return errors.New("no room")
	}
	if step.Action == reconcile.Remove {
		delete(s.things, step.Key)
		return nil
	}
	body := step.Item.Body
	if step.Action == reconcile.MarkIt {
		body = s.things[step.Key].Body
	}
	s.things[step.Key] = reconcile.Thing{Key: step.Key, Body: body, Mark: mark}
	return nil
}

// books is an integration whose data are {"SHARD": {"KEY": "TITLE"}}; the title "!" says delete, and "?" is a mistake.
// The shard "approvals" has the deletions that the data allow, with their last day.
func (s *shelf) books() integration.Native {
	made := native.Recipe{
		Name: "books", Class: reconcile.Listing,
		Desired: func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
			raw, err := query(ctx, "", nil)
			if err != nil {
				return native.Desired{}, err
			}
			var data map[string]map[string]string
			if err := json.Unmarshal(raw, &data); err != nil {
				return native.Desired{}, err
			}
			d := native.Desired{Callers: []string{}}
			for key, until := range data["approvals"] {
				d.Approvals = append(d.Approvals, reconcile.Approval{Key: reconcile.Key(key), Until: until})
			}
			delete(data, "approvals")
			for shard, books := range data {
				p := native.Part{Shard: shard, Caller: shard, Target: shard}
				if s.seesAll {
					p.Caller = "one"
				}
				for key, title := range books {
					it := reconcile.Item{Key: reconcile.Key(key), Body: title, Delete: title == "!"}
					if title == "?" {
						it.Mistake = reconcile.Mistake{Code: reconcile.CodeType, Message: title}
					}
					if to := s.address[title]; to != "" {
						p.Target = to
					}
					p.Items = append(p.Items, it)
				}
				d.Parts, d.Callers = append(d.Parts, p), append(d.Callers, shard)
			}
			if s.desire != nil {
				s.desire(&d)
			}
			return d, nil
		},
		Current: func(_ context.Context, _ integration.Environment, p native.Part) (native.Current, error) {
			if p.Shard == s.broken {
				return native.Current{}, reconcile.Transient(fmt.Errorf("nobody answers"))
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			var c native.Current
			for _, t := range s.things {
				if t.Mark.Caller == p.Caller || strings.HasPrefix(string(t.Key), p.Shard+"-") || s.seesAll {
					c.Things = append(c.Things, t)
				}
			}
			if s.partly != nil {
				c.Errors = append(c.Errors, s.partly)
			}
			return c, nil
		},
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			if want.Body == is.Body {
				return reconcile.Difference{}, nil
			}
			return reconcile.Difference{Changes: []reconcile.Change{{Path: "/", Old: fmt.Sprint(is.Body),
				New: fmt.Sprint(want.Body)}}}, nil
		},
		Doer: func(context.Context, integration.Environment, integration.Actors, native.Part) (reconcile.Doer, error) {
			return s, nil
		},
	}
	if s.with != nil {
		s.with(&made)
	}
	return native.Make(made)
}

// answer returns a query function that answers with some data.
func answer(data string) integration.QueryFunc {
	return func(context.Context, string, map[string]any) ([]byte, error) { return []byte(data), nil }
}

// run makes a dry run, or a run, and returns what it said: effects, findings and the log.
func (s *shelf) run(t *testing.T, base, head string, isDry bool,
	change func(*integration.Environment)) (string, error) {
	t.Helper()
	return s.call(t, base, head, isDry, change, integration.Actors{})
}

// runWith makes a run with these actors.
func (s *shelf) runWith(t *testing.T, head string, change func(*integration.Environment),
	act integration.Actors) (string, error) {
	t.Helper()
	return s.call(t, "", head, false, change, act)
}

func (s *shelf) call(t *testing.T, base, head string, isDry bool, change func(*integration.Environment),
	act integration.Actors) (string, error) {
	t.Helper()
	var log bytes.Buffer
	var mu sync.Mutex
	var said []string
	env := integration.Environment{
		Integration: "books", Query: answer(head), Now: func() time.Time {
			return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		}, Log: &log, Workers: 4,
		Report: func(f integration.Remark) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case f.Effect != nil:
				said = append(said, fmt.Sprintf("%s %s", f.Effect.Kind, f.Effect.Subject))
			case f.Unlooked != nil:
				said = append(said, fmt.Sprintf("unlooked %s %s: %d entries", f.Unlooked.What, f.Unlooked.Part, f.Unlooked.Entries))
			case f.Old:
				said = append(said, "old "+string(f.Code))
			default:
				said = append(said, fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Message))
			}
		},
	}
	if base != "" {
		env.Base = answer(base)
	}
	if change != nil {
		change(&env)
	}
	var err error
	if isDry {
		err = s.books().DryRun(t.Context(), env)
	} else {
		err = s.books().Run(t.Context(), env, act)
	}
	return strings.Join(said, "\n"), err
}

// A dry run says what the run does, and writes nothing.
func TestDryRunAndRun(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{"b": {Key: "b", Body: "old",
		Mark: reconcile.Mark{Integration: "books", Caller: "north"}}}}
	const data = `{"north": {"a": "Atlas", "b": "Bible"}, "south": {"c": "Comic"}}`
	said, err := s.run(t, "", data, true, nil)
	if want := "create a\nchange b\ncreate c"; sorted(said) != want || err != nil || s.writes != 0 {
		t.Errorf("got %q, %v and %d writes, want %q", said, err, s.writes, want)
	}
	if said, err := s.run(t, "", data, false, nil); said != "" || err != nil || s.writes != 3 {
		t.Errorf("got %q, %v and %d writes", said, err, s.writes)
	}
	if said, err := s.run(t, "", data, true, nil); said != "" || err != nil {
		t.Errorf("the second run would do %q, %v", said, err)
	}
}

func sorted(text string) string {
	var lines []string
	for _, word := range []string{"a", "b", "c"} {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasSuffix(line, " "+word) {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// One target that cannot be asked is an error of its own.
func TestPartsAreApart(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: "north"}
	const data = `{"north": {"a": "Atlas"}, "south": {"c": "Comic"}}`
	_, err := s.run(t, "", data, false, nil)
	if err == nil || !strings.Contains(err.Error(), "north: nobody answers") || len(s.things) != 1 {
		t.Errorf("got %v and %v", err, s.things)
	}
	if integration.ClassOfFailure(err) != integration.FailureTransient || errors.Is(err, integration.ErrNothingDone) {
		t.Errorf("got class %q of %v", integration.ClassOfFailure(err), err)
	}
	_, err = s.run(t, "", `{"north": {"a": "Atlas"}}`, false, nil)
	if !errors.Is(err, integration.ErrNothingDone) || integration.ClassOfFailure(err) != integration.FailureTransient {
		t.Errorf("no part can be asked: got %v", err)
	}
	if _, err = s.run(t, "", `[]`, false, nil); !errors.Is(err, integration.ErrNothingDone) {
		t.Errorf("the data cannot be read: got %v", err)
	}
}

// A change that names a new target does not get it asked. What it creates there is told from the data.
func TestNewTargetIsNotAsked(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: "north"}
	said, err := s.run(t, `{"south": {"c": "Comic"}}`, `{"north": {"a": "Atlas"}, "south": {"c": "Comic"}}`, true, nil)
	if err != nil || !strings.Contains(said, "note NEW_TARGET north") || !strings.Contains(said, "create a") {
		t.Errorf("got %q, %v", said, err)
	}
}

// The gate counts over all parts of a run.
func TestGateOverParts(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	head := map[string]map[string]string{}
	for i := range 6 {
		shard := fmt.Sprintf("s%d", i)
		head[shard] = map[string]string{shard + "-stays": "x"}
		for j := range 3 {
			k := reconcile.Key(fmt.Sprintf("%s-%d", shard, j))
			s.things[k] = reconcile.Thing{Key: k, Mark: reconcile.Mark{Integration: "books", Caller: shard}}
		}
	}
	raw, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	said, err := s.run(t, "", string(raw), true, nil)
	if err != nil || !strings.Contains(said, "error TOO_MANY_DELETES") || strings.Contains(said, "delete s") {
		t.Fatalf("got %q, %v", said, err)
	}
	_, digest, _ := strings.Cut(said, "--confirm-deletions ")
	digest, _, _ = strings.Cut(digest, "\n")
	said, err = s.run(t, "", string(raw), true, func(e *integration.Environment) {
		e.Approve.Deletions = []string{digest}
	})
	if err != nil || strings.Contains(said, "TOO_MANY") || strings.Count(said, "delete s") != 18 {
		t.Errorf("confirmed %q: got %q, %v", digest, said, err)
	}
	// One shard at a time the floor allows it.
	said, err = s.run(t, "", string(raw), true, func(e *integration.Environment) {
		e.Shard, e.Static = "s2",
			plan.Fraction{}
	})
	if err != nil || strings.Count(said, "delete s2") != 3 {
		t.Errorf("got %q, %v", said, err)
	}
}

// The worst class of all parts is that of the run.
func TestWorstClass(t *testing.T) {
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}, broken: "north", failing: "c"}
	_, err := s.run(t, "", `{"north": {"a": "Atlas"}, "south": {"c": "Comic"}}`, false, nil)
	if got := err.Error(); integration.ClassOfFailure(err) != "task" || strings.Count(got, "north: ") != 1 ||
		!strings.Contains(got, "south: c: create: no room") {
		t.Errorf("got class %q of %v", integration.ClassOfFailure(err), err)
	}
}

// What is wrong on base already is told as old, however much it is.
func TestOldMistakes(t *testing.T) {
	entries := make([]string, 50_000)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"%s-%d": "?"`, strings.Repeat("x", 10), i)
	}
	base := `{"north": {` + strings.Join(entries, ",") + `}}`
	head := `{"north": {` + strings.Join(entries, ",") + `, "new": "?"}}`
	s := &shelf{things: map[reconcile.Key]reconcile.Thing{}}
	said, err := s.run(t, base, head, true, nil)
	if err != nil || strings.Count(said, "old VAL_TYPE") != len(entries) ||
		!strings.Contains(said, "error VAL_TYPE new: ?") || strings.Contains(said, "create") {
		t.Errorf("got %d bytes, %v", len(said), err)
	}
}
