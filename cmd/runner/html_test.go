package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/source"
)

// inline is the style and the script of a page, which are reviewed elsewhere.
var inline = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|&#39;sha256-.*?&#39;`)

// The page of the shop of examples/, with results as they could be.
func TestShopPage(t *testing.T) {
	const shop = "../../examples/shop/"
	change, err := source.Inputs{Base: shop + "base.json", Head: shop + "head.json", Config: shop + "prcheck.yaml"}.Open(t.Context(), cli.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := change.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	results := &plan.Results{Plan: p.Digest}
	for i, task := range p.Tasks {
		at := float64(i) / 2
		results.Results = append(results.Results, plan.Result{
			Task: task.ID, Status: plan.Passed, Seconds: 0.5, Attempts: 1, Waited: at, Spans: []plan.Span{{Started: at, Seconds: 0.5}},
			Log: "logs/" + task.Integration + ".log", Tail: "would change something",
		})
	}
	name := filepath.Join(t.TempDir(), "report.html")
	if err := writeHTML(name, p, results, change.Base, change.Head); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := inline.ReplaceAllString(string(raw), "$1$2$3$4")
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

// Values stop when there are too many, and the page stays whole.
func TestContentsAreBounded(t *testing.T) {
	const files = maxContents/(2*maxValue) + 100
	side := func(word string) string {
		var out strings.Builder
		for i := range files {
			fmt.Fprintf(&out, `,"/%d.yml":{"$schema":"/s","x":"%s"}`, i, strings.Repeat(word, maxValue))
		}
		return `{"data":{` + out.String()[1:] + `},"graphql":[],"resources":{"/r":{"path":"/r","sha256sum":"1","content":"` + word + `"}}}`
	}
	base, err := bundle.Parse([]byte(side("a")), nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Parse([]byte(side("b")), base)
	if err != nil {
		t.Fatal(err)
	}
	c := contents(bundle.Compare(base, head))
	if n := len(c.Datafiles); n < files/2 || n > maxContents/(2*maxValue) || len(c.Resources) != 0 {
		t.Errorf("got the values of %d of %d files, and of %d resources", n, files, len(c.Resources))
	}
}
