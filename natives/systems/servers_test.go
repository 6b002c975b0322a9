package systems

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// A token goes only to the server that its secret names. The address in the secret is told.
func TestServerField(t *testing.T) {
	for name, c := range map[string]struct {
		server, stored string // stored is "" if the secret has no such field
		want           string // "" for no error
	}{
		"the same":            {"https://east.example:6443", "https://east.example:6443", ""},
		"a slash in the data": {"https://east.example/", "https://east.example", ""},
		"one in the secret":   {"https://east.example", "https://east.example/\n", ""},
		"another": {"https://east.example", "https://west.example",
			`its token is for the server https://west.example (secret "kube", field "server"), and the data say "https://east.example"`},
		"another port":   {"https://east.example", "https://east.example:6443", "correct the one that is wrong"},
		"another path":   {"https://east.example/a", "https://east.example/b", "https://east.example/b"},
		"another scheme": {"https://east.example", "http://east.example", "http://east.example"},
		"none": {"https://east.example", "",
			`the server that its token is for: secret "kube", field "server": the variable APP_KUBE_SERVER is not set`},
		"no address":      {"https://east.example", theValue, "it is no address such as https://HOST"},
		"with a password": {"https://east.example", "https://u:" + theValue + "@east.example", "it is no address"},
		"with a query":    {"https://east.example", "https://east.example?t=" + theValue, "it is no address"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &learner{}
			s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Learn: l.learn,
				Getenv: func(name string) string {
					return map[string]string{"APP_KUBE_TOKEN": "token-of-the-cluster", "APP_KUBE_SERVER": c.stored}[name]
				}}).For("manager")
			ref := integration.ClusterRef{Name: "east", Server: c.server,
				Token: integration.SecretRef{Path: "kube", Field: "token"}, ServerField: "server"}
			_, read := s.Reader(t.Context(), ref)
			_, write := s.Access(t.Context(), ref)
			_, try := s.Trial(t.Context(), ref)
			for _, err := range []error{read, write, try} {
				switch {
				case c.want == "" && err != nil,
					c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
						!strings.Contains(err.Error(), `cluster "east"`)):
					t.Errorf("got %v, want an error with %q", err, c.want)
				case err != nil && integration.ClassOfFailure(err) != integration.FailureOfConfig:
					t.Errorf("%v has the class %q", err, integration.ClassOfFailure(err))
				}
				checkSilent(t, err)
			}
			if isAddress := !strings.Contains(c.stored, theValue); c.stored != "" && l.knows(c.stored) == isAddress {
				t.Errorf("learned %v; an address is no secret, and everything else is", l.words)
			}
		})
	}
}

// A field that was read as an address is masked when it is read as a secret.
func TestAddressAsSecret(t *testing.T) {
	const stored = "https://east.example"
	l := &learner{}
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Learn: l.learn, Getenv: func(string) string {
		return stored
	}})
	field := integration.SecretRef{Path: "kube", Field: "server"}
	ref := integration.ClusterRef{Name: "east", Server: stored, Token: integration.SecretRef{Path: "kube", Field: "token"},
		ServerField: "server"}
	if err := s.checkServer(t.Context(), ref); err != nil || l.knows(stored) {
		t.Fatalf("got %v, learned %v", err, l.words)
	}
	if value, err := s.Secret(t.Context(), field); err != nil || value != stored || !l.knows(stored) {
		t.Errorf("got %q, %v, learned %v", value, err, l.words)
	}
}

// Variables of the process can be read unless they are secrets.
func TestVariable(t *testing.T) {
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}"), Getenv: func(name string) string {
		return map[string]string{"IMAGE_TAG": "v1", "APP_TEAM_X": "x", "GITLAB_TOKEN": "x", "APPLE": "red", "EMPTY": ""}[name]
	}})
	for name, want := range map[string]string{"IMAGE_TAG": "v1", "APPLE": "red", "APP_TEAM_X": "", "GITLAB_TOKEN": "",
		"EMPTY": "", "NONE": ""} {
		if got, ok := s.Variable(name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %t, want %q", name, got, ok, want)
		}
	}
}
