package report_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report/proofs"
)

// TestBrowserAccessibility holds pages against the rules of axe-core, whose script
// PRCHECK_AXE names: on a wide screen and on a narrow one, in light and dark, and as printed.
func TestBrowserAccessibility(t *testing.T) {
	name := os.Getenv("PRCHECK_AXE")
	if name == "" {
		t.Skip("PRCHECK_AXE does not name the script of axe-core: no page is held against its rules")
	}
	axe, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := change(t)
	b := newTab(t)
	for title, text := range map[string]string{"small": renderPage(t, p, timedResults(p), newContents()),
		"findings": renderPage(t, p, foundResults(p), nil), "large": largePage(t),
		"effects": effectfulPage(t), "proof": proofPage(t)} {
		b.open(text)
		b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
		for _, c := range []struct {
			name, scheme, media string
			width               int64
		}{{"light", "light", "screen", 1280}, {"dark", "dark", "screen", 1280}, {"narrow", "light", "screen", 390},
			{"narrow and dark", "dark", "screen", 390}, {"printed", "light", "print", 800}} {
			b.setScheme(c.scheme)
			b.setMedia(c.media)
			if _, err := chromedp.Call(b.ctx(), emulation.SetDeviceMetricsOverride,
				emulation.SetDeviceMetricsOverrideParams{Width: c.width, Height: 900, DeviceScaleFactor: 1}); err != nil {
				t.Fatal(err)
			}
			found := evaluate[string](b,
				`axe.run(document).then((r) => r.violations.map((v) => v.id + " " + v.nodes[0].html.slice(0, 200)).join("; ") + "; " + (r.passes.length > 10))`)
			if found != "; true" {
				t.Errorf("%s, %s: %s", title, c.name, found)
			}
		}
	}
}

// effectfulPage returns a page with effects of every kind, some of them alike, and a failure.
func effectfulPage(t *testing.T) string {
	t.Helper()
	p, r, contents := newEffectfulPlan(20, 60)
	for i := range 30 {
		r.Results[1].Effects.Items = append(r.Results[1].Effects.Items,
			plan.Effect{Kind: plan.EffectCreate, Subject: fmt.Sprint("user ", i), Text: "would create"})
	}
	r.Results[2].Effects.Unlooked = []plan.Unlooked{{Part: "s2", What: plan.UnlookedDrift, Entries: 7, Why: "no token"}}
	r.Results[0].Status, r.Results[0].Class, r.Results[0].Reason = plan.Failed, plan.ClassTask, "exit code 1"
	p.Require = map[plan.EffectKind]string{plan.EffectDelete: "deletions-reviewed"}
	return renderPage(t, p, r, contents)
}

// proofPage returns the page with the proofs of a plan, with all of them open.
func proofPage(t *testing.T) string {
	t.Helper()
	p := change(t)
	in := proofs.Input{Plan: p, Subjects: map[string]proofs.Subject{}, Changed: []string{"docs/a.md"}}
	for _, d := range p.Integrations {
		s := proofs.Subject{Verdict: proofs.Proven, Reads: []string{"lib/a.py"}, Queries: []proofs.Query{{Name: "q.graphql",
			Text: "{ users { name org_username } }"}}}
		for _, f := range p.Changes.Datafiles {
			s.Schemas = append(s.Schemas, f.Schema)
		}
		if d.Decision == plan.Run {
			s.Verdict = proofs.Runs
		}
		in.Subjects[d.Name] = s
	}
	var out strings.Builder
	if err := proofs.HTML(&out, in); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), `<details class="file">`, `<details class="file" open>`)
}
