package promotions

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

func TestReadSettings(t *testing.T) {
	read := func(own string) (ownSettings, error) {
		all, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  "+Name+":\n    settings: "+own+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return readSettings(all.For(Name).Own)
	}
	s, err := read("{forge: {url: https://gitlab.example.com, project: a/b, token: {path: p, field: f}}, folder: data, labels: [bot], note: /lgtm, auto_merge: true, candidate: head, patience: 10m, soak: each}")
	if err != nil || s.Branch != "main" || s.inProject("/x/y.yml") != "data/x/y.yml" ||
		s.inProject("/../x.yml") != "data/x.yml" || s.Candidate != "head" {
		t.Errorf("got %+v, %v", s, err)
	}
	for _, own := range []string{"{forge: {url: http://gitlab.example.com}}",
		"{forge: {url: https://u:p@gitlab.example.com}}", "{forge: {url: gitlab}}", "{forge: {project: /a}}",
		"{folder: ../x}", "{folder: /x}", "{folder: x/}", "{branch: \"\"}", "{branch: saas-promotion/x}", "{patience: -1m}",
		"{candidate: oldest}", "{more: 1}"} {
		if _, err := read(own); err == nil || !strings.Contains(err.Error(), "prcheck.yaml") {
			t.Errorf("%s: got %v", own, err)
		}
	}
}
