package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// How a round ends decides the exit code.
func TestOutcomes(t *testing.T) {
	finds := func(f plan.Finding) func(context.Context, integration.Environment) error {
		return func(_ context.Context, env integration.Environment) error {
			env.Report(integration.Remark{Finding: f})
			return nil
		}
	}
	fails := func(err error) func(context.Context, integration.Environment) error {
		return func(context.Context, integration.Environment) error { return err }
	}
	for _, c := range []struct {
		name   string
		dry    func(context.Context, integration.Environment) error
		change func(*Input)
		want   Outcome
	}{
		{"nothing to do", nil, nil, Done},
		{"a note", finds(plan.Finding{Severity: plan.SeverityNote}), nil, Done},
		{"a warning", finds(plan.Finding{Severity: plan.SeverityWarning}), nil, Done},
		{"an error of the data", finds(plan.Finding{Severity: plan.SeverityError}), nil, Failed},
		{"a severity that nobody knows", finds(plan.Finding{Severity: "fatal"}), nil, Failed},
		{"a part failed", fails(errors.New("no room")), nil, Failed},
		{"no part could be read", fails(fmt.Errorf("%w: all are down", integration.ErrNothingDone)), nil, NothingDone},
		{"a panic", func(context.Context, integration.Environment) error { panic("oh no") }, nil, NothingDone},
		{"no bundle", nil, func(in *Input) { in.Data = &fixed{err: errors.New("no such file")} }, NothingDone},
		{"it read what it may not read", nil, func(in *Input) { in.Data = &fixed{ended: errors.New("forbidden")} }, Failed},
		{"no settings", nil, func(in *Input) {
			in.Settings = func(context.Context) (*settings.Settings, error) { return nil, errors.New("typo") }
		}, NothingDone},
		{"no such native", nil, func(in *Input) { in.Integration = "is" }, NothingDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, log := input(fake{dry: c.dry})
			if c.change != nil {
				c.change(&in)
			}
			r := once(t, in, Orders{})
			if r.Outcome != c.want {
				t.Errorf("got %s, %q, want %s", r.Outcome, r.Errors, c.want)
			}
			for _, line := range r.Errors {
				if !strings.Contains(log.String(), "reconciler: "+line+"\n") {
					t.Errorf("the log lacks %q: %s", line, log)
				}
			}
		})
	}
}

// A dry run gets nothing that writes, and a run does.
func TestDryRunCannotWrite(t *testing.T) {
	for _, writes := range []bool{false, true} {
		var own state.Store
		in, _ := input(fake{
			dry: func(ctx context.Context, env integration.Environment) error {
				return env.State.Write(ctx, "a.json", nil)
			},
			run: func(ctx context.Context, env integration.Environment, act integration.Actors) error {
				own = act.State
				if env.State.Write(ctx, "a.json", nil) == nil {
					t.Error("the state for reading can be written to")
				}
				return act.State.Write(ctx, "a.json", []byte("{}"))
			},
		})
		s := newMemory()
		in.State = s
		r := once(t, in, Orders{Writes: writes, Wait: time.Minute})
		switch {
		case writes && (r.Outcome != Done || own == nil || len(s.written("native/"+state.Name("it")+"/a.json")) != 1):
			t.Errorf("a run ended with %s, %q, and wrote %q", r.Outcome, r.Errors, s.written(""))
		case !writes && (r.Outcome != Failed || !strings.Contains(r.Errors[0], state.ErrReadOnly.Error()) ||
			len(s.written("")) > 0):
			t.Errorf("a dry run ended with %s, %q, and wrote %q", r.Outcome, r.Errors, s.written(""))
		}
	}
}

// Only a dry run whose settings say so may ask clusters to try writes.
func TestTrials(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		writes   bool
		want     bool
	}{
		"by default": {"{}", false, false}, "off": {"{server_dry_run: false}", false, false},
		"allowed": {"{server_dry_run: true}", false, true}, "a run": {"{server_dry_run: true}", true, false},
	} {
		var got *integration.Environment
		in, _ := input(fake{
			dry: func(_ context.Context, env integration.Environment) error { got = &env; return nil },
			run: func(_ context.Context, env integration.Environment, _ integration.Actors) error {
				got = &env
				return nil
			},
		})
		rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  it: "+c.settings+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		in.Settings = func(context.Context) (*settings.Settings, error) { return rules, nil }
		in.State = newMemory()
		if r := once(t, in, Orders{Writes: c.writes, Wait: time.Minute}); got == nil || (got.Trial != nil) != c.want {
			t.Fatalf("%s: got %+v, %q", name, got, r.Errors)
		}
		if value, ok := got.Variable("IMAGE_TAG"); !ok || value != "value of IMAGE_TAG" {
			t.Errorf("%s: got %q", name, value)
		}
	}
}

// A bundle that is older than the last one is refused, by this process and by the next one.
func TestOlderBundles(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	type step struct {
		sha, time string
		options   Orders
		restarts  bool // it is another process
		want      Outcome
	}
	wet := Orders{Writes: true, Wait: time.Minute}
	for _, c := range []struct {
		name  string
		state bool
		steps []step
	}{
		{"the same", true, []step{{a, "1000", wet, false, Done}, {a, "1000", wet, false, Done}}},
		{"a newer one", true, []step{{a, "1000", wet, false, Done}, {b, "1001", wet, true, Done}}},
		{"another one of the same time", true, []step{{a, "1000", wet, false, Done}, {b, "1000", wet, true, Done}}},
		{"an older one", true, []step{{a, "1000", wet, false, Done}, {b, "999", wet, false, NothingDone}}},
		{"as numbers and not as texts", true, []step{{a, "1000", wet, false, Done}, {b, "999", wet, true, NothingDone},
			{b, "10000", wet, true, Done}}},
		{"a dry run refuses it as well", true,
			[]step{{a, "1000", wet, false, Done}, {b, "999", Orders{}, true, NothingDone}}},
		{"a dry run remembers nothing", true, []step{{a, "1000", Orders{}, false, Done}, {b, "999", wet, true, Done}}},
		{"but knows its own rounds", true,
			[]step{{a, "1000", Orders{}, false, Done}, {b, "999", Orders{}, false, NothingDone}}},
		{"allowed once", true,
			[]step{{a, "1000", wet, false, Done}, {b, "999", Orders{Writes: true, Wait: time.Minute, AllowOlder: true}, true,
				Done}, {b, "999", wet, true, Done}}},
		{"a time is missing", true, []step{{a, "1000", wet, false, Done}, {b, "", wet, true, Done},
			{b, "999", wet, true, NothingDone}}},
		{"a time is none", true, []step{{a, "1000", wet, false, Done}, {b, "yesterday", wet, true, Done}}},
		{"without a state", false, []step{{a, "1000", wet, false, Done}, {b, "999", wet, false, NothingDone},
			{b, "999", wet, true, Done}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, log := input(fake{})
			if c.state {
				in.State = newMemory()
			}
			var r *Runner
			for i, s := range c.steps {
				in.Data = &fixed{bundle: BundleName{SHA256: s.sha, Timestamp: s.time}}
				if r == nil || s.restarts {
					r = New(in, s.options)
				}
				r.in.Data, r.opts = in.Data, s.options
				got := r.Round(t.Context())
				if got.Outcome != s.want {
					t.Errorf("step %d: got %s, %q, want %s", i, got.Outcome, got.Errors, s.want)
				}
				if s.want == NothingDone &&
					!strings.Contains(got.Errors[0],
						"is older than that of the last run, aaaaaaaaaaaa of 1970-01-01T00:16:40Z: wait for a newer one, or allow it once with --allow-older") {
					t.Errorf("step %d: got %q", i, got.Errors)
				}
			}
			if isTold := strings.Contains(log.String(), "has no git_commit_timestamp"); isTold != strings.HasPrefix(c.name,
				"a time") {
				t.Errorf("got the log %s", log)
			}
		})
	}
}

// Everything that is written is masked, on one line, and bounded. A secret that is read in the
// round is masked from then on.
func TestOutputIsClean(t *testing.T) {
	const secret = "open-sesame-0123"
	bad := "one\n\x1b[31mtwo " + secret
	in, log := input(fake{run: func(_ context.Context, env integration.Environment, act integration.Actors) error {
		if _, err := env.Secret(t.Context(), integration.SecretRef{}); err == nil {
			t.Error("there is a secret")
		}
		env.Report(integration.Remark{Finding: plan.Finding{Code: plan.FindingCode(bad),
			Severity: "bad " + plan.Severity(secret), Place: plan.Place{File: bad, Pointer: bad}, Message: bad}})
		env.Report(integration.Remark{Finding: plan.Finding{Severity: plan.SeverityNote,
			Message: strings.Repeat("long ", 1<<20)}})
		env.Report(integration.Remark{Finding: plan.Finding{Severity: plan.SeverityNote,
			Message: strings.Repeat("longish ", 1000)}})
		env.Report(integration.Remark{Finding: plan.Finding{Message: bad, Place: plan.Place{File: bad}},
			Effect: &plan.Effect{Kind: plan.EffectDelete, Subject: bad}})
		act.Did(integration.Deed{Shard: bad, Key: bad, Action: bad, Status: bad, Error: bad})
		_, err := fmt.Fprintf(env.Log, "half a line %s, \x1b[31m and\n  more %s", secret, secret)
		return errors.Join(err, errors.New(bad))
	}})
	in.Connect = func(_ *settings.Settings, learn func(string)) Systems {
		learn(secret)
		return nowhere{}
	}
	name := filepath.Join(t.TempDir(), "journal")
	journal, err := OpenJournal(name, "it")
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	in.Journal = journal
	r := once(t, in, Orders{Writes: true})
	var text, doc strings.Builder
	if err := errors.Join(r.WriteText(&text), r.WriteJSON(&doc)); err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"text": text.String(), "json": doc.String(), "log": log.String(),
		"journal": read(t, name)} {
		if strings.Contains(got, "sesame") || strings.Contains(got, "\x1b") || strings.Contains(got, `\u001b`) {
			t.Errorf("the %s is not clean: %s", what, got)
		}
		if len(got) > 20_000 {
			t.Errorf("the %s has %d bytes", what, len(got))
		}
	}
	if want := "half a line ***,  and\n  more ***\n"; !strings.Contains(log.String(), want) {
		t.Errorf("got the log %q, want %q", log, want)
	}
	if f := r.Findings[0]; f.Severity != plan.SeverityError || f.Code != "" || f.Message != "one two ***" {
		t.Errorf("got %+v", f)
	}
	if n := strings.Count(text.String(), "\n"); n != 7 {
		t.Errorf("got %d lines:\n%s", n, text.String())
	}
}

// A report has bounds, keeps errors, and does not depend on the order of goroutines.
func TestReportIsStable(t *testing.T) {
	var deeds []integration.Deed
	for i := range 50 {
		deeds = append(deeds, integration.Deed{Shard: fmt.Sprint(i % 3), Key: fmt.Sprint(i), Action: "create",
			Status: "done"})
	}
	var findings []integration.Remark
	for i := range 50 {
		findings = append(findings,
			integration.Remark{Finding: plan.Finding{Severity: plan.Severities()[i%3], Message: fmt.Sprint(i)}})
	}
	var first string
	for range 5 {
		rand.Shuffle(50, func(i, j int) {
			deeds[i], deeds[j], findings[i], findings[j] = deeds[j], deeds[i], findings[j], findings[i]
		})
		in, _ := input(fake{run: func(_ context.Context, env integration.Environment, act integration.Actors) error {
			for i := range 50 {
				act.Did(deeds[i])
				env.Report(findings[i])
			}
			return nil
		}})
		var doc strings.Builder
		if err := once(t, in, Orders{Writes: true}).WriteJSON(&doc); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = doc.String()
		}
		if doc.String() != first {
			t.Fatalf("got %s\nwant %s", doc.String(), first)
		}
	}
}

func TestBounds(t *testing.T) {
	in, _ := input(fake{run: func(_ context.Context, env integration.Environment, act integration.Actors) error {
		for range 3 * maxSteps {
			act.Did(integration.Deed{Key: "a", Action: "create", Status: "done"})
			env.Report(integration.Remark{Finding: plan.Finding{Severity: plan.SeverityNote, Message: "a"}})
		}
		env.Report(integration.Remark{Finding: plan.Finding{Severity: plan.SeverityError, Message: "the error"}})
		return errors.New(strings.Repeat("x\ny\n", 3*maxErrors))
	}})
	r := once(t, in, Orders{Writes: true})
	if len(r.Steps) != maxSteps || r.MoreSteps != 2*maxSteps || len(r.Findings) != maxFindings+1 ||
		r.MoreFindings != 3*maxSteps-maxFindings || len(r.Errors) != maxErrors+1 {
		t.Errorf("got %d steps and %d more, %d findings and %d more, %d errors", len(r.Steps), r.MoreSteps, len(r.Findings),
			r.MoreFindings, len(r.Errors))
	}
	if r.Findings[0].Message != "the error" {
		t.Errorf("the first finding is %+v", r.Findings[0])
	}
	if !strings.HasPrefix(r.summary(), "30000 steps (30000 create), 1 error, 30000 notes") {
		t.Errorf("got %q", r.summary())
	}
}

// Effects are the steps of a dry run, with the action of the step if it is known.
func TestSteps(t *testing.T) {
	in, _ := input(fake{dry: func(_ context.Context, env integration.Environment) error {
		env.Report(integration.Remark{Finding: plan.Finding{Place: plan.Place{File: "/a.yml"}, Message: "it has no mark"},
			Effect: &plan.Effect{Kind: plan.EffectChange, Subject: "a"}, Action: "adopt", Shard: "s"})
		env.Report(integration.Remark{Effect: &plan.Effect{Kind: plan.EffectDelete, Subject: "b"}})
		return nil
	}})
	raw, err := json.Marshal(once(t, in, Orders{}).Steps)
	want := `[{"key":"b","action":"delete","status":"planned"},{"shard":"s","key":"a","action":"adopt","status":"planned","file":"/a.yml","reason":"it has no mark","where":"/a.yml"}]`
	if string(raw) != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", raw, err, want)
	}
}

// The settings are read for each round. Systems are connected again only if they differ.
func TestSettingsOfEachRound(t *testing.T) {
	in, _ := input(fake{})
	one, two := &settings.Settings{}, &settings.Settings{}
	list := []*settings.Settings{one, one, two, two}
	var connected []*settings.Settings
	in.Settings = func(context.Context) (*settings.Settings, error) {
		now := list[0]
		list = list[1:]
		return now, nil
	}
	in.Connect = func(s *settings.Settings, _ func(string)) Systems {
		connected = append(connected, s)
		return nowhere{}
	}
	r := New(in, Orders{})
	for range 4 {
		r.Round(t.Context())
	}
	if want := []*settings.Settings{one, two}; len(connected) != 2 || !slices.Equal(connected, want) {
		t.Errorf("got %v, want %v", connected, want)
	}
}
