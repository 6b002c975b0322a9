package saas

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// previewLines returns all lines of a preview.
func previewLines(p Preview) []string {
	var out []string
	for name, lines := range map[string][]PreviewLine{"": p.Runs, "promotion ": p.Promotions, "unknown ": p.Unknown} {
		for _, l := range lines {
			out = append(out, name+l.String())
		}
	}
	slices.Sort(out)
	return out
}

const newSha = "fedcba9876543210fedcba9876543210fedcba98"

// A preview says which runs a merge starts and why, and what becomes of promotions.
func TestPreview(t *testing.T) {
	stage := "shop/shop c-1/shop-stage"
	production := "shop/shop c-1/shop-production"
	for name, c := range map[string]struct {
		change func(w *saastest.World)
		want   []string
	}{
		"nothing":              {func(*saastest.World) {}, nil},
		"another display name": {func(w *saastest.World) { w.Set(saastest.File, "x", "displayName") }, nil},
		"a pattern of images: no run starts, but a later one differs": {func(w *saastest.World) {
			w.Set(saastest.File, []any{"quay.io/"}, "imagePatterns")
		}, nil},
		"a parameter of a target": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 0)["parameters"] = object{"REPLICAS": 2}
		},
			[]string{"run shop/stage: " + stage + " changes: parameters"}},
		"a parameter of the saas file": {func(w *saastest.World) { w.Set(saastest.File, object{"A": "b"}, "parameters") },
			[]string{"run shop/production: " + production + " changes: parameters of the saas file",
				"run shop/stage: " + stage + " changes: parameters of the saas file"}},
		"a ref": {func(w *saastest.World) { w.Target(saastest.File, 0, 1)["ref"] = newSha },
			[]string{"promotion change " + production + ": ref from 0123456789ab to fedcba987654",
				"run shop/production: " + production + " changes: ref from 0123456789ab to fedcba987654"}},
		"a ref that is blocked": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 1)["ref"] = newSha
			w.Set(saastest.App, []any{newSha}, "codeComponents", 0, "blockedVersions")
		},
			[]string{"held shop/production: " + production +
				" changes: ref from 0123456789ab to fedcba987654; the commit fedcba987654 is blocked",
				"promotion change " + production + ": ref from 0123456789ab to fedcba987654; blockedVersions from none to " +
					newSha}},
		"a publisher of a commit": {func(w *saastest.World) { w.Target(saastest.File, 0, 0)["ref"] = newSha },
			[]string{"promotion open " + production + ": to fedcba987654, once " + stage + " runs it",
				"run shop/stage: " + stage + " changes: ref from main to fedcba987654"}},
		"delete": {func(w *saastest.World) { w.Target(saastest.File, 0, 1)["delete"] = true },
			[]string{"promotion drop " + production + ": it says delete",
				"run shop/production: " + production + " says delete: its objects go"}},
		"disable": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 1)["disable"] = true
		}, []string{"promotion drop " + production + ": it is disabled"}},
		"a window": {func(w *saastest.World) {
			w.Target(saastest.File, 0, 1)["promotion"].(object)["schedule"] = "0 9 * * 1"
		},
			[]string{"promotion change " + production + ": schedule from none to 0 9 * * 1",
				"run shop/production: " + production + " changes: promotion"}},
		"a new template": {func(w *saastest.World) {
			templates := w.Data[saastest.File]["resourceTemplates"].([]any)
			second := w.Clone().Data[saastest.File]["resourceTemplates"].([]any)[0].(object)
			second["name"], second["targets"] = "second", second["targets"].([]any)[1:]
			w.Set(saastest.File, append(templates, second), "resourceTemplates")
		}, []string{"promotion open shop/second c-1/shop-production: it follows shop-stage from now on",
			"run shop/production: shop/second c-1/shop-production is new"}},
		"a target gone": {func(w *saastest.World) {
			w.Set(saastest.File, w.Data[saastest.File]["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[:1],
				"resourceTemplates", 0, "targets")
		}, []string{"promotion drop " + production + ": it is gone from the data",
			"unknown held " + production +
				": it is gone from the data without delete: true before, so nothing starts, and its objects stay"}},
		"a publisher of a branch": {func(w *saastest.World) { w.Target(saastest.File, 0, 0)["ref"] = "stable" },
			[]string{"run shop/stage: " + stage + " changes: ref from main to stable"}},
		"deprecated": {func(w *saastest.World) {
			w.Set(saastest.File, true, "deprecated")
			w.Set(saastest.File, object{"A": "b"}, "parameters")
		}, []string{"promotion drop " + production + ": its saas file is deprecated"}},
		"a file that cannot be read": {func(w *saastest.World) { w.Set(saastest.File, object{}, "timeout") },
			[]string{"unknown held shop: its cells are held: " + saastest.File +
				" cannot be used: String cannot represent value: {}"}},
	} {
		t.Run(name, func(t *testing.T) {
			base, head := saastest.New(), saastest.New()
			c.change(head)
			p := NewPreview(read(t, base), read(t, head))
			if got := previewLines(p); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if n := len(p.Findings()); n != len(c.want) {
				t.Errorf("got %d findings, want %d", n, len(c.want))
			}
		})
	}
}

// In the other direction, a file of base that could not be read is unknown, and starts nothing.
func TestPreviewOfUnreadBase(t *testing.T) {
	base := saastest.New()
	base.Set(saastest.File, object{}, "timeout")
	p := NewPreview(read(t, base), read(t, saastest.New()))
	if len(p.Runs) > 0 || len(p.Unknown) != 2 {
		t.Errorf("got %q", previewLines(p))
	}
}
