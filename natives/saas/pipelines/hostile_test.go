package pipelines

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

var everyName = flag.Bool("every-name", false, "try every hostile name at every place, not one of three")

// hostileNames are meant to lead elsewhere, or to change what people see.
var hostileNames = []string{"../../x", "..", "a/b", "\x1b[2Jgone", "A_B", strings.Repeat("n", 5000), "a\nb", "a:b", "ü",
	"", "https://evil.example.com", "saas/damaged"}

// Names in the data that are meant to lead elsewhere lead nowhere: the loop ends, no run or document
// has a name that was not made for it, and nothing that is told has control characters.
func TestHostileNames(t *testing.T) {
	fields := map[string]func(w *saastest.World, name string){
		"saas file":   func(w *saastest.World, name string) { w.Set(saastest.File, name, "name") },
		"template":    func(w *saastest.World, name string) { w.Set(saastest.File, name, "resourceTemplates", 0, "name") },
		"target":      func(w *saastest.World, name string) { w.Target(saastest.File, 0, 0)["name"] = name },
		"environment": func(w *saastest.World, name string) { w.Set(saastest.StageEnv, name, "name") },
		"namespace":   func(w *saastest.World, name string) { w.Set(saastest.Stage, name, "name") },
		"cluster":     func(w *saastest.World, name string) { w.Set(saastest.Cluster, name, "name") },
		"ref":         func(w *saastest.World, name string) { w.Target(saastest.File, 0, 0)["ref"] = name },
		"url":         func(w *saastest.World, name string) { w.Set(saastest.File, name, "resourceTemplates", 0, "url") },
		"channel": func(w *saastest.World, name string) {
			w.Target(saastest.File, 0, 0)["promotion"] = map[string]any{"publish": []any{name}}
		},
		"image": func(w *saastest.World, name string) {
			w.Target(saastest.File, 0, 0)["images"] = []any{map[string]any{"org": saastest.Ref(saastest.QuayOrg), "name": name}}
		},
		"job": func(w *saastest.World, name string) {
			w.Target(saastest.File, 0, 0)["upstream"] = map[string]any{"instance": saastest.Ref(saastest.Jenkins), "name": name}
		},
		"provider": func(w *saastest.World, name string) { w.Set(saastest.Provider, name, "name") },
	}
	for i, field := range slices.Sorted(maps.Keys(fields)) {
		set := fields[field]
		for j, name := range hostileNames {
			if !*everyName && (i+j)%3 > 0 {
				continue
			}
			w := saastest.New()
			set(w, name)
			s := newTestScene(t, w)
			s.heads["https://github.com/acme/shop main"] = saastest.Shas(1)[0]
			_ = s.dry()
			_ = s.run() // it may fail, and says why
			what := fmt.Sprintf("%s %.30q", field, name)
			for _, run := range s.created {
				if len(run) > 63 || strings.Trim(run, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
					t.Errorf("%s: a run is named %.100q", what, run)
				}
			}
			entries, err := s.state.List(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !strings.HasPrefix(e.Key, "saas/v1/") && !strings.HasPrefix(e.Key, "saas-pipelines/") ||
					strings.Contains(e.Key, "..") {
					t.Errorf("%s: there is a document %.100q", what, e.Key)
				}
			}
			s.holdsNoControls(t, what)
		}
	}
}

// holdsNoControls checks that the log of the loop has no control characters. Findings lose theirs
// where they are taken, for all natives.
func (s *testScene) holdsNoControls(t *testing.T, what string) {
	t.Helper()
	for line := range strings.Lines(s.log.String()) {
		if strings.ContainsAny(line, "\x1b\x00") {
			t.Errorf("%s: %d bytes are told: %.200q", what, len(line), line)
		}
	}
}

// Answers of services that are no answers start nothing, and other cells go on.
func TestHostileAnswers(t *testing.T) {
	for _, sha := range []string{"main", "../..", strings.Repeat("a", 41), "\x1b[2J", strings.Repeat("A", 40), "0",
		strings.Repeat("0", 5000)} {
		s := newTestScene(t, saastest.Large(2, 8))
		publishAll(t, s)
		s.settle()
		s.heads["https://github.com/acme/app-000 main"] = sha
		s.builds["app-000-build"] = []services.Build{{Number: 1 << 62, Result: "\x1b[2J"}, {Number: 1, Result: "SUCCESS"}}
		if err := s.run(); err == nil || len(s.created) > 0 {
			t.Errorf("%.60q: got %v, and the runs %q", sha, err, s.created)
		}
		if state := s.unit("app-001/stage").State; state != "same" {
			t.Errorf("%.60q: another cell is %q", sha, state)
		}
		s.holdsNoControls(t, fmt.Sprintf("%.60q", sha))
	}
}
