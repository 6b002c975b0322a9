package planner

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/cli"
)

// What an integration reads from a server is noted when that ends, for
// planner suggest.
func TestServeRecord(t *testing.T) {
	dir := t.TempDir()
	r := start(t, nil, "--bundle", "../../testdata/shop/base.json", "--record", filepath.Join(dir, "state"),
		"--integration", "shop-window")
	fetch(t, http.MethodPost, r.url+"/graphql", `{"query":"{products{name description}}"}`)
	if code := r.stop(); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	var out, errs strings.Builder
	code := cli.Run(t.Context(), "planner", cli.Env{
		Args: []string{"suggest", "--bundle", "../../testdata/shop/base.json", "--state", filepath.Join(dir, "state"),
			"shop-window"},
		Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
	}, runAll)
	for _, want := range []string{"# read of /shop/product-1.yml: description, name", "# never read: /shop/supplier-1.yml",
		"schemas:\n  - /app-sre/integration-1.yml\n  - /shop/product-1.yml\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %d %s%s, want %q", code, out.String(), errs.String(), want)
		}
	}
}

// A server that nobody asked notes nothing.
func TestServeRecordNothing(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	r := start(t, nil, "--bundle", "../../testdata/shop/base.json", "--record", state, "--integration", "shop-window")
	if code := r.stop(); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("there is a state")
	}
}
