package git

import "testing"

func TestHostOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://gitlab.example.org/group/project.git":              "gitlab.example.org",
		"https://oauth2:glpat-secret@GitLab.example.org:8443/p.git": "gitlab.example.org",
		"ssh://git@gitlab.example.org:2222/p.git":                   "gitlab.example.org",
		"git@github.com:group/project.git":                          "github.com",
		"gitlab.example.org:p.git":                                  "gitlab.example.org",
		"/srv/git/p.git":                                            "",
		"../p.git":                                                  "",
		"file:///srv/p.git":                                         "",
		`C:\repos\p`:                                                "",
		"":                                                          "",
	} {
		if got := hostOf(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
