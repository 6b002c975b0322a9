package insights

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/report"
)

//go:embed page.gohtml
var pageText string

// page is parsed when it is first used, since few commands write one.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"hours": hours, "seconds": seconds, "name": name, "skipsAt": skipsAt, "printable": report.Printable,
		"missLine": missLine,
		"number":   func(n int) string { return dotted(n, fmt.Sprint(n)) },
		"ran":      func(r Row) int { return r.Run + r.Shards },
		"share":    share,
	}).Parse(pageText))
})

// HTML writes insights as one HTML file in the style of the report, without a script.
func HTML(w io.Writer, in *Insights) error {
	var body strings.Builder
	err := page().Execute(&body, struct {
		*Insights
		Summary []string
		Longest float64

		BeliefRemedy string
	}{in, summary(in), longest(in), beliefRemedy})
	if err != nil {
		return err
	}
	return report.WritePage(w, "What the checks cost", template.HTML(body.String())) //nolint:gosec // a template has escaped it
}

func longest(in *Insights) float64 {
	if len(in.Integrations) == 0 {
		return 0
	}
	return in.Integrations[0].Seconds
}

// share returns a part of a whole as a percentage between 0 and 100.
func share(part, whole float64) int {
	if whole <= 0 {
		return 0
	}
	return int(100*min(part, whole)/whole + 0.5)
}
