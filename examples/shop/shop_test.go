package shop_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/server"
)

// programs are all integrations of the shop, with their output for the change from
// base to head. The integrations that prcheck skips would change nothing.
var programs = []struct {
	name string
	args []string
	want string
}{
	{"price-tags", nil, "nothing would change\n"},
	{"shop-window", nil, "would change the sign of lamp: A lamp for the desk, with a dimmer., now A lamp for the desk.\n"},
	{"staff-badges", nil, "nothing would change\n"},
	{"supplier-orders", nil, "nothing would change\n"},
	{"warehouse-stock", nil,
		"would change the warehouse harbor: 260 shelves for 2 products, now 200 shelves for 2 products\n"},
	{"warehouse-stock", []string{"-warehouse", "harbor"},
		"would change the warehouse harbor: 260 shelves for 2 products, now 200 shelves for 2 products\n"},
	{"warehouse-stock", []string{"-warehouse", "quay"}, "nothing would change\n"},
}

func TestPrograms(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin,
		"./integrations/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := bundle.Open("base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := bundle.Open("head.json", b)
	if err != nil {
		t.Fatal(err)
	}
	base, head, err := server.NewSnapshots(b, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		t.Run(strings.Join(append([]string{p.name}, p.args...), " "), func(t *testing.T) {
			allowed := schemas(t, h, p.name)
			e, err := server.Open(t.Context(), server.Options{Base: base, Head: head, Integration: p.name, BaseAllowed: allowed,
				HeadAllowed: allowed})
			if err != nil {
				t.Fatal(err)
			}
			args := append([]string{"-now", e.BaseURL(), "-wanted", e.URL()}, p.args...)
			got, err := exec.CommandContext(t.Context(), filepath.Join(bin, p.name), args...).CombinedOutput()
			if err != nil || string(got) != p.want {
				t.Errorf("got %q, %v, want %q", got, err, p.want)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			var exit *exec.ExitError
			if err := exec.CommandContext(t.Context(), filepath.Join(bin, p.name), args...).Run(); !errors.As(err, &exit) ||
				exit.ExitCode() != 1 {
				t.Errorf("without a server: got %v, want exit code 1", err)
			}
		})
	}
}

// schemas returns the schemas that an integration may read.
func schemas(t *testing.T, b *bundle.Bundle, name string) []bundle.SchemaPath {
	t.Helper()
	all, err := integration.List(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Name == name {
			return d.Schemas
		}
	}
	t.Fatalf("%s is not defined", name)
	return nil
}
