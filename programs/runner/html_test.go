package runner

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// inline is the style and the script of a page, which are reviewed elsewhere.
var inline = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|&#39;sha256-.*?&#39;`)

// The HTML report for the shop of examples/, with results of every kind.
func TestShopPage(t *testing.T) {
	const shop = "../../testdata/shop/"
	opened, err := change.Inputs{Base: shop + "base.json", Head: shop + "head.json", Config: shop + "prcheck.yaml",
		Natives: all()}.Open(t.Context(), cli.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := opened.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	results := &plan.Results{Plan: p.Digest}
	for i, task := range p.Tasks {
		at := float64(i) / 2
		results.Results = append(results.Results, plan.Result{
			Task: task.ID, Status: plan.Passed, Seconds: 0.5, Attempts: 1, Waited: at,
			Spans: []plan.Span{{Started: at, Seconds: 0.5}},
			Log:   "logs/" + task.Integration + ".log", Tail: "would change something",
		})
	}
	name := filepath.Join(t.TempDir(), "report.html")
	at := fileInputs{natives: all(), base: opened.Base, head: opened.Head}
	if err := at.writeHTML(t.Context(), cli.Env{Stderr: t.Output()}, name,
		&report.Page{Plan: p, Report: report.New(p, results)}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := inline.ReplaceAllString(string(raw), "$1$2$3$4")
	// it depends on all files of this repository
	got = strings.ReplaceAll(got, p.Digest[:len("sha256:")+12], "sha256:(plan)")
	golden := filepath.Join("testdata", "shop.html.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
