package runner_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A talker is a native integration that reads a secret and tells it everywhere it can.
type talker struct {
	name string
	tell func(ctx context.Context, env integration.Environment, secret string) error
}

func (n talker) Name() string { return n.name }

func (n talker) DryRun(ctx context.Context, env integration.Environment) error {
	_, _ = fmt.Fprint(env.Log, "a word that is not secret\n") // the log never fails
	secret, err := env.Secret(ctx, integration.SecretRef{Path: "team/creds", Field: "token"})
	if err != nil {
		return err
	}
	return n.tell(ctx, env, secret)
}

func (talker) Run(context.Context, integration.Environment, integration.Actors) error {
	panic("a task writes nothing")
}

// A vault has one secret, which it lets the runner learn before anybody gets it. Nothing else can be reached.
type vault struct {
	launch.Systems
	rules *settings.Settings
	learn func(secret string)
}

func (v vault) Secret(context.Context, integration.SecretRef) (string, error) {
	if v.rules.Secrets().Env == "" {
		return "", integration.Failure(integration.FailureOfConfig, errors.New("nobody says where secrets are"))
	}
	v.learn(spoken)
	return spoken, nil
}

const (
	nativeSettings = "version: 1\nsecrets: {env: {prefix: APP}}\neffects: {compare: base}\nreuse: none\n"
	spoken         = `sesame"open/7zR-31mTb`
)

// runNatives plans and runs a change of the shop with natives for all integrations.
func runNatives(t *testing.T, rules string, natives []integration.DryRunner, s state.Store,
	opts runner.Options) *plan.Results {
	t.Helper()
	base, head := open("../testdata/shop/base.json"), open("../testdata/shop/head.json")
	set, err := settings.Read("prcheck.yaml", []byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), planner.Input{Base: base, Head: head, Settings: set, Natives: natives})
	if err != nil {
		t.Fatal(err)
	}
	results, err := runner.Run(t.Context(), runner.Input{
		Plan: p, Base: base, Head: head, Settings: set, Natives: natives, State: s,
		Connect: func(rules *settings.Settings, learn func(string)) func(string) launch.Systems {
			return func(string) launch.Systems { return vault{rules: rules, learn: learn} }
		},
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// A secret that a native reads while it runs is in nothing that is written from then on:
// logs, results, the journal, the state, notes and progress.
func TestSecretsOfNatives(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(spoken))
	inJSON, err := json.Marshal(spoken)
	if err != nil {
		t.Fatal(err)
	}
	tell := func(_ context.Context, env integration.Environment, secret string) error {
		if secret != spoken {
			return errors.New("this is not the secret")
		}
		_, _ = fmt.Fprintf(env.Log, "plain %s encoded %s quoted %s\n", secret, encoded, inJSON)
		_, _ = fmt.Fprint(env.Log, "in two pieces ", secret[:7])
		_, _ = fmt.Fprint(env.Log, secret[7:], "\n")
		env.Report(integration.Remark{Finding: plan.Finding{Code: "LEAK", Severity: plan.SeverityWarning,
			Place: plan.Place{File: "/products/lamp.yml", Pointer: "/" + secret}, Message: "it is " + secret}})
		env.Report(integration.Remark{Effect: &plan.Effect{Kind: plan.EffectCreate, Subject: "a login with " + secret}})
		return nil
	}
	natives := []integration.DryRunner{
		talker{"price-tags", tell},
		talker{"shop-window", func(ctx context.Context, env integration.Environment, secret string) error {
			return errors.Join(tell(ctx, env, secret), fmt.Errorf("logging in with %s: refused", secret))
		}},
		talker{"supplier-orders", func(ctx context.Context, env integration.Environment, secret string) error {
			_ = tell(ctx, env, secret)
			panic("with " + secret)
		}},
		talker{"warehouse-stock", func(ctx context.Context, env integration.Environment, secret string) error {
			return integration.Failure(integration.FailureTransient, fmt.Errorf("%s: %w", encoded, tell(ctx, env, secret)))
		}},
	}
	dir := t.TempDir()
	s, err := state.Open(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	var notes, shown bytes.Buffer
	results := runNatives(t, nativeSettings, natives, s, runner.Options{
		Logs: filepath.Join(dir, "logs"), Journal: journal, Notes: &notes, Progress: progress.Display{Out: &shown},
		Backoff: func(time.Duration) time.Duration { return 0 },
	})
	written := map[string]string{"notes": notes.String(), "progress": shown.String()}
	raw, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	written["results"] = string(raw)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			raw, readErr := os.ReadFile(name)
			written[strings.TrimPrefix(name, dir)], err = string(raw), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	logs := 0
	for name, text := range written {
		for _, form := range []string{spoken, encoded, strings.Trim(string(inJSON), `"`), spoken[:10]} {
			if strings.Contains(text, form) {
				t.Errorf("%s shows %q:\n%.2000s", name, form, text)
			}
		}
		if strings.Contains(name, "/logs/") &&
			strings.Contains(text, "a word that is not secret\nplain *** encoded *** quoted \"***\"\nin two pieces ***\n") {
			logs++
		}
	}
	if logs < len(natives) {
		t.Errorf("%d logs have what natives said, want at least %d: %v", logs, len(natives), written)
	}
	for _, r := range results.Results {
		if r.Task == "price-tags" &&
			(len(r.Findings) != 1 || r.Findings[0].Message != "it is ***" || r.Effects == nil || len(r.Effects.Items) != 1 ||
				r.Effects.Items[0].Subject != "a login with ***") {
			t.Errorf("price-tags: got findings %+v, effects %+v", r.Findings, r.Effects)
		}
		if r.Task == "shop-window" && !strings.Contains(r.Reason, "logging in with ***: refused") {
			t.Errorf("shop-window: got %q", r.Reason)
		}
	}
}

// A task that ended before a native read a secret may have told it. The results do not.
func TestSecretsLearnedLate(t *testing.T) {
	late := talker{"shop-window", nothing}
	natives := []integration.DryRunner{outspoken{}, late, talker{"supplier-orders", nothing},
		talker{"warehouse-stock", nothing}}
	results := runNatives(t, nativeSettings, natives, nil,
		runner.Options{Jobs: 1, Logs: t.TempDir(), NoBaseline: true}).Results
	if r := results[0]; r.Reason != "it says ***" || r.Tail != "says ***" || len(results) != 4 ||
		results[1].Spans[0].Started < r.Spans[0].End() {
		t.Errorf("got %+v", results)
	}
}

// An outspoken native knows the secret without reading it.
type outspoken struct{}

func (outspoken) Name() string { return "price-tags" }

func (outspoken) DryRun(_ context.Context, env integration.Environment) error {
	_, err := fmt.Fprintf(env.Log, "says %s\n", spoken)
	return errors.Join(err, errors.New("it says "+spoken))
}

func (outspoken) Run(context.Context, integration.Environment, integration.Actors) error { return nil }

// A native reads what it remembered, that of its own name alone, and cannot write in a check.
func TestStateOfNatives(t *testing.T) {
	s, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"price-tags": "of price-tags", "shop-window": "of shop-window"} {
		if err := state.ForNative(s, name).Write(t.Context(), "known/a.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	look := func(ctx context.Context, env integration.Environment, _ string) error {
		raw, err := env.State.Read(ctx, "known/a.json")
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return err
		}
		if err := env.State.Write(ctx, "known/a.json", nil); !errors.Is(err, state.ErrReadOnly) {
			return fmt.Errorf("writing: %w", err)
		}
		return fmt.Errorf("it remembers %q", raw)
	}
	var natives []integration.DryRunner
	want := map[string]string{"price-tags": "of price-tags", "shop-window": "of shop-window", "supplier-orders": "",
		"warehouse-stock": ""}
	for name := range want {
		natives = append(natives, talker{name, look})
	}
	for _, r := range runNatives(t, nativeSettings, natives, s,
		runner.Options{Logs: t.TempDir(), NoBaseline: true}).Results {
		if r.Reason != fmt.Sprintf("it remembers %q", want[r.Task]) {
			t.Errorf("%s: got %q, want that it remembers %q", r.Task, r.Reason, want[r.Task])
		}
	}
}

func nothing(context.Context, integration.Environment, string) error { return nil }

// Without a source of secrets, a native that needs one fails because of the settings.
func TestNativesWithoutSecrets(t *testing.T) {
	natives := []integration.DryRunner{talker{"price-tags", nothing}, talker{"shop-window", nothing},
		talker{"supplier-orders", nothing}, talker{"warehouse-stock", nothing}}
	for _, r := range runNatives(t, "version: 1\n", natives, nil,
		runner.Options{Logs: t.TempDir(), NoBaseline: true}).Results {
		if r.OK() || r.Class != plan.ClassConfig || !strings.Contains(r.Reason, "nobody says where secrets are") {
			t.Errorf("%s: got %+v", r.Task, r)
		}
	}
}
