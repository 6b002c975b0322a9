package setup

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

func TestKindOf(t *testing.T) {
	check := func(name, cmd string) integration.Definition {
		return integration.Definition{Name: name, Check: &integration.Check{Cmd: cmd}}
	}
	isCommand := func(name string) bool { return name == "sh" || name == "acs-rbac" }
	for _, c := range []struct {
		name string
		list []integration.Definition
		want Kind
	}{
		{"no definition", nil, Empty},
		{"own programs", []integration.Definition{check("badges", "sh badges.sh"), check("desks", "")}, Own},
		{"a known name with a program of its own", []integration.Definition{check("terraform-users", "sh users.sh")}, Own},
		{"a known name that is a program here", []integration.Definition{check("acs-rbac", "acs-rbac")}, Own},
		{"a known name without a dry-run", []integration.Definition{{Name: "terraform-users"}}, Own},
		{"qontract-reconcile", []integration.Definition{check("own", "sh own.sh"),
			check("terraform-users", "terraform-users --x")}, Reconcile},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kindOf(c.list, isCommand); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// With all integrations the settings for qontract-reconcile stay as they are.
func TestReconcileTextWhole(t *testing.T) {
	defined := shippedNames()
	for _, r := range mustRead(t, shippedText()).Rules {
		for _, n := range r.Run {
			defined[n.Name] = true
		}
	}
	_, want, _ := strings.Cut(shippedText(), "\nversion: 1\n")
	if got := reconcileText("# head\n", defined); got != "# head\nversion: 1\n"+want {
		t.Errorf("the text differs from the file:\n%s", got)
	}
}

// With any integrations the settings can be read, name only these, and say the same of each
// of them as the whole file does.
func TestReconcileTextParts(t *testing.T) {
	whole := mustRead(t, shippedText())
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for range 200 {
		defined := map[string]bool{}
		for _, name := range append(whole.Names(), "terraform-resources", "unheard-of") {
			if rng.IntN(4) == 0 {
				defined[name] = true
			}
		}
		part := mustRead(t, reconcileText("", defined))
		var want []string
		for _, name := range whole.Names() {
			if defined[name] {
				want = append(want, name)
			}
		}
		if got := part.Names(); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		for _, name := range want {
			if a, b := part.For(name),
				whole.For(name); len(a.Queries) != len(b.Queries) || !slices.Equal(a.Exec.Argv, b.Exec.Argv) ||
				a.Resources.AllowAll() != b.Resources.AllowAll() {
				t.Fatalf("%s: got %+v, want %+v", name, a, b)
			}
		}
		for _, r := range part.Rules {
			for _, n := range r.Run {
				if !defined[n.Name] {
					t.Fatalf("a rule runs %q, which is not defined", n.Name)
				}
			}
		}
	}
}

func mustRead(t *testing.T, text string) *settings.Settings {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// Names come from the repository. Whatever they are, the settings can be read and say nothing
// else.
func TestHostileNames(t *testing.T) {
	names := []string{"plain", "a: b", "x\ntrust: {new_integrations: true}", `"`, "'", "#", "- a", "\x1b[31mred",
		"../../etc/passwd", "{cmd}", "\u2028trust: x", "~", "null", ""}
	r := &Repository{Kind: Own, Checkout: (&settings.Settings{}).Checkout(), queries: map[string]bool{}}
	for i, name := range names {
		r.Definitions = append(r.Definitions, integration.Definition{Name: name, Check: &integration.Check{Cmd: "sh"}})
		r.queries[name] = isPlain(name) && i%2 == 0
	}
	files, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	s := mustRead(t, files[0].Text)
	if got := s.Names(); !slices.Equal(got, []string{"null", "plain"}) || s.TrustNewIntegrations {
		t.Errorf("the settings name %q, trust %t", got, s.TrustNewIntegrations)
	}
	for _, line := range strings.FieldsFunc(files[0].Text, func(c rune) bool {
		return c == '\n' || c == '\u2028' || c == '\r'
	}) {
		if strings.Contains(line, "trust:") && !strings.HasPrefix(line, "  #") {
			t.Errorf("a name becomes a line of its own: %q", line)
		}
	}
	if strings.Contains(files[0].Text, "\x1b") {
		t.Error("a name brings an escape sequence into the settings")
	}
}

// The office has the CI file that init writes, and the documents have its include.
func TestOfficeCIFile(t *testing.T) {
	raw, err := os.ReadFile("../examples/office/" + CIFile)
	if err != nil || string(raw) != ciText {
		t.Errorf("got %q, %v, want %q", raw, err, ciText)
	}
	page, err := os.ReadFile("../docs/gitlab.md")
	_, include, _ := strings.Cut(ciText, "include:")
	if err != nil || !strings.Contains(string(page), "```yaml\ninclude:"+include+"```") {
		t.Errorf("docs/gitlab.md does not have the include %q, %v", include, err)
	}
}
