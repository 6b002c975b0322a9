package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/report"
)

func TestPreviews(t *testing.T) {
	many := report.Preview{Integration: "saas-pipelines"}
	for i := range 60 {
		many.Lines = append(many.Lines, fmt.Sprintf("run cell-%02d: \x1b[31mforged\nline", i))
	}
	previews := []report.Preview{many, {Integration: "other", Problem: "the data cannot be read"}}
	for name, c := range map[string]struct {
		write func(w *strings.Builder) error
		want  []string
	}{
		"text": {func(w *strings.Builder) error { return report.PreviewText(w, previews, report.Style{}) },
			[]string{"The merge starts, says saas-pipelines\n", "  run cell-00: ", "  and 10 more\n",
				"says other\n  it is not known: the data cannot be read\n"}},
		"markdown": {func(w *strings.Builder) error { return report.PreviewMarkdown(w, previews) },
			[]string{"says `saas-pipelines`\n", "- run cell\\-49: ", "- and 10 more\n"}},
	} {
		var out strings.Builder
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) && !strings.Contains(out.String(), strings.ReplaceAll(want, "\\", "")) {
				t.Errorf("%s lacks %q:\n%.600s", name, want, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\nline") ||
			strings.Contains(out.String(), "cell-50") {
			t.Errorf("%s shows what it must not:\n%.600s", name, out.String())
		}
	}
}
