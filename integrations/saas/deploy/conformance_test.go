package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integrations/saas/saastest"
	"github.com/app-sre/prcheck/internal/shared"
)

// A deleteCase is a case of the area delete: targets, each in a namespace of its own.
type deleteCase struct {
	Input    struct{ Targets []map[string]any }
	Expected struct {
		NamespacesFetched []bool  `json:"namespaces_fetched"`
		Desired           [][]any // nil: it is not looked at
	}
}

func TestDeleteCases(t *testing.T) {
	shared.Each(t, "delete", func(t *testing.T, c deleteCase) {
		s := newScene(t)
		var targets []any
		for i, flags := range c.Input.Targets {
			file := fmt.Sprintf("/services/shop/namespaces/n-%d.yml", i)
			s.Data[file] = map[string]any{}
			for key, value := range s.Data[saastest.Stage] {
				s.Data[file][key] = value
			}
			s.Set(file, fmt.Sprintf("n-%d", i), "name")
			target := map[string]any{"namespace": saastest.Ref(file), "ref": "main"}
			for flag, value := range flags {
				target[flag] = value
			}
			targets = append(targets, target)
		}
		s.Set(saastest.File, targets, "resourceTemplates", 0, "targets")
		r := deployer{Services{Repositories: s.forge}}.open(t.Context(), s.env(t, "", nil), nil)
		if r.head.err != nil {
			t.Fatal(r.head.err)
		}
		parts := map[string]int{}
		for _, p := range r.head.desired().Parts {
			if p.Skip == "" {
				parts[p.At] = len(p.Items)
			}
		}
		for i, isFetched := range c.Expected.NamespacesFetched {
			n, is := parts[fmt.Sprintf("c-1/n-%d", i)]
			if is != isFetched {
				t.Errorf("target %d: is its namespace looked at? got %v", i, is)
			}
			if want := c.Expected.Desired[i]; (len(want) > 0) != (n > 0) {
				t.Errorf("target %d: %d objects are desired, want %v", i, n, want)
			}
		}
	})
}

// A changeCase is a case of the area change_tester. What qontract-reconcile compares with the
// paths of the merge request are sides with other data for us: base is what the change starts from.
type changeCase struct {
	Input struct {
		ChangedPaths []string `json:"changed_paths"`
	}
	Expected struct{ Diffs []string }
}

func TestChangeTesterCases(t *testing.T) {
	shared.Each(t, "change_tester", func(t *testing.T, c changeCase) {
		s := newScene(t)
		before := s.Clone()
		for _, path := range c.Input.ChangedPaths {
			if !strings.HasSuffix(path, saastest.File) {
				continue // it is no datafile of a saas file
			}
			s.Target(saastest.File, 0, 1)["ref"] = next
		}
		_ = s.dryRun(t, "", before) // the gate is closed
		var links []string
		for _, said := range s.said {
			if strings.Contains(said, string(CodeCompare)) {
				_, link, _ := strings.Cut(said, "https://")
				links = append(links, "https://"+link)
			}
		}
		if len(links) != len(c.Expected.Diffs) {
			t.Errorf("got the links %q, want %q", links, c.Expected.Diffs)
		}
	})
	s := newScene(t)
	before := s.Clone()
	s.Target(saastest.File, 0, 1)["ref"] = next
	_ = s.dryRun(t, production, before)
	if !slices.ContainsFunc(s.said, func(said string) bool { return strings.Contains(said, shopURL+"/compare/"+old+"..."+next) }) {
		t.Errorf("a path among the changes has no link: %q", s.said)
	}
}
