package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/settings"
)

// A speaker is a native integration that reports what a function says, for a side and the
// number of its run there.
type speaker struct {
	says func(onHead bool, run int, report func(integration.Remark)) error
	ran  map[bool]int
}

func (s *speaker) Name() string { return "price-tags" }

func (s *speaker) Run(context.Context, integration.Environment, integration.Actors) error {
	panic("a check writes nothing")
}

func (s *speaker) DryRun(ctx context.Context, w integration.Environment) error {
	answer, err := w.Query(ctx, "{ products { description } }", nil)
	if err != nil {
		return err
	}
	onHead := strings.Contains(string(answer), "dimmer") // which head gives the lamp
	s.ran[onHead]++
	err = s.says(onHead, s.ran[onHead], w.Report)
	if err != nil {
		_, _ = fmt.Fprintln(w.Log, err)
	}
	return err
}

// speak runs a native that reports what says says.
func speak(t *testing.T, says func(onHead bool, run int, report func(integration.Remark)) error) (*change, *speaker) {
	c, s := newChange(t), &speaker{says, map[bool]int{}}
	c.in.Natives = []integration.DryRunner{s}
	return c, s
}

func finding(severity plan.Severity, message string) integration.Remark {
	return integration.Remark{Finding: plan.Finding{Severity: severity, Message: message,
		Place: plan.Place{File: "/products/lamp.yml"}}}
}

// messages returns findings in short.
func messages(r plan.Result) string {
	var out []string
	for _, f := range r.Findings {
		text := string(f.Severity) + " " + f.Message
		if f.Old {
			text += " (old)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// The findings of a result are those of its last attempt. A resumed run has them, too.
func TestFindingsOfLastAttempt(t *testing.T) {
	c, s := speak(t, func(_ bool, run int, report func(integration.Remark)) error {
		report(finding(plan.SeverityWarning, fmt.Sprint("in run ", run)))
		if run == 1 {
			report(finding(plan.SeverityNote, "only once"))
			return errors.New(reset)
		}
		return nil
	})
	const want = "warning in run 2"
	first, _ := c.run(runner.Options{})
	expect(t, "the first run", first, "passed after 2, flaky: 1 of 2")
	again, _ := c.run(runner.Options{Resume: true})
	if messages(first) != want || messages(again) != want || s.ran[true] != 2 ||
		first.Findings[0].File != "/products/lamp.yml" {
		t.Errorf("got %q, resumed %q", messages(first), messages(again))
	}
}

// A finding fails its task as one of the data: it is neither tried again nor run on base.
func TestFindingFailsTask(t *testing.T) {
	c, s := speak(t, func(_ bool, _ int, report func(integration.Remark)) error {
		report(finding(plan.SeverityWarning, "b"))
		report(finding(plan.SeverityError, "a"))
		report(integration.Remark{Effect: &plan.Effect{Kind: plan.EffectCreate, Subject: "x"}})
		return nil
	})
	r, _ := c.run(runner.Options{})
	if r.Status != plan.Failed || r.Class != plan.ClassConfig || r.Reason != "/products/lamp.yml: a" ||
		messages(r) != "error a, warning b" || s.ran[true] != 1 || s.ran[false] != 0 {
		t.Errorf("got %+v after %v", r, s.ran)
	}
	if r.Effects == nil || r.Effects.Unknown != "the task failed" {
		t.Errorf("got the effects %+v", r.Effects)
	}
}

// Findings on base never replace those on head. A failure is the same on base only if all
// findings that fail the task are there as well.
func TestFindingsOfFailureOnBase(t *testing.T) {
	down := integration.Remark{Finding: plan.Finding{Code: "UNREACHABLE", Severity: plan.SeverityError,
		Message: "harbor is down"}}
	refused := integration.Remark{Finding: plan.Finding{Code: "TOO_MANY_DELETES", Severity: plan.SeverityError,
		Message: "9 of 10"}}
	for name, test := range map[string]struct {
		onHead, onBase []integration.Remark
		class          plan.Class
		want           string
	}{
		"the same": {[]integration.Remark{down}, []integration.Remark{down}, plan.ClassBaseline,
			"error harbor is down (old)"},
		"a warning on head": {[]integration.Remark{down, finding(plan.SeverityWarning, "new")}, []integration.Remark{down},
			plan.ClassBaseline, "warning new, error harbor is down (old)"},
		"a warning on base": {[]integration.Remark{down}, []integration.Remark{down, finding(plan.SeverityWarning, "gone")},
			plan.ClassBaseline, "error harbor is down (old)"},
		"refused on head": {[]integration.Remark{down, refused}, []integration.Remark{down}, plan.ClassTask,
			"error 9 of 10, error harbor is down"},
		"nothing on base":     {[]integration.Remark{down}, nil, plan.ClassTask, "error harbor is down"},
		"nothing on any side": {nil, nil, plan.ClassBaseline, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := speak(t, func(onHead bool, _ int, report func(integration.Remark)) error {
				for _, f := range map[bool][]integration.Remark{true: test.onHead, false: test.onBase}[onHead] {
					report(f)
				}
				return errors.New("ERROR: harbor is down, and 9 of 10 cannot be told")
			})
			r, _ := c.run(runner.Options{})
			if r.Status != plan.Failed || r.Class != test.class || !slices.Equal(strings.Split(messages(r), ", "),
				strings.Split(test.want, ", ")) {
				t.Errorf("got %s, %q, %+v, want %s, %q", r.Class, messages(r), r.Baseline, test.class, test.want)
			}
		})
	}
}

// The effects that a native hands over are compared with those that it hands over on base.
func TestEffectsOfNatives(t *testing.T) {
	c, _ := speak(t, func(onHead bool, _ int, report func(integration.Remark)) error {
		report(integration.Remark{Effect: &plan.Effect{Kind: plan.EffectDelete, Subject: "a shelf", Times: 1}})
		if onHead {
			report(integration.Remark{Effect: &plan.Effect{Kind: plan.EffectCreate, Subject: "a lamp", Times: 1}})
		}
		return nil
	})
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\neffects: {compare: base}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), planner.Input{Base: c.in.Base, Head: c.in.Head, Settings: rules,
		Natives: c.in.Natives})
	if err != nil {
		t.Fatal(err)
	}
	p.Tasks = p.Tasks[:1]
	c.in.Settings, c.in.Plan = rules, p
	r, _ := c.run(runner.Options{})
	raw, err := json.Marshal(r.Effects)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %s", r.Status, raw); got != `passed {"items":[`+
		`{"kind":"delete","subject":"a shelf","since":"pending","known":{"how":"said"}},`+
		`{"kind":"create","subject":"a lamp","since":"new","known":{"how":"said"}}],`+
		`"comparison":{"how":"run"},"compared":true}` {
		t.Errorf("got %s", got)
	}
}
