package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/saastest"
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
		ChangedPaths any    `json:"changed_paths"` // paths, or the words for the saas file that the target stands in
		Old          string `json:"old_ref"`
		New          string `json:"new_ref"`
		URL          string
	}
	Expected struct{ Diffs []string }
}

// changes reports whether the saas file of the scene is among the changed paths.
func (c changeCase) changes() bool {
	if c.Input.ChangedPaths == "saas file path" {
		return true
	}
	paths, _ := c.Input.ChangedPaths.([]any)
	return slices.ContainsFunc(paths, func(path any) bool { return strings.HasSuffix(fmt.Sprint(path), saastest.File) })
}

func TestChangeTesterCases(t *testing.T) {
	shared.Each(t, "change_tester", func(t *testing.T, c changeCase) {
		s := newScene(t)
		before, after := old, next
		if in := c.Input; in.URL != "" {
			s.Set(saastest.File, in.URL, "resourceTemplates", 0, "url")
			s.Set(saastest.App, in.URL, "codeComponents", 0, "url")
			s.forge.heads[in.URL], s.forge.files[in.URL] = map[string]string{in.Old: old, in.New: next, "main": next},
				s.forge.files[shopURL]
			before, after = in.Old, in.New
		}
		s.Target(saastest.File, 0, 1)["ref"] = before
		base := s.Clone()
		if c.changes() {
			s.Target(saastest.File, 0, 1)["ref"] = after
		}
		_ = s.dryRun(t, "", base) // the gate is closed
		var links []string
		for _, said := range s.said {
			if strings.Contains(said, string(CodeCompare)) {
				_, link, _ := strings.Cut(said, "https://")
				links = append(links, "https://"+link)
			}
		}
		if !slices.Equal(links, c.Expected.Diffs) && len(links)+len(c.Expected.Diffs) > 0 {
			t.Errorf("got the links %q, want %q", links, c.Expected.Diffs)
		}
	})
	s := newScene(t)
	before := s.Clone()
	s.Target(saastest.File, 0, 1)["ref"] = next
	_ = s.dryRun(t, production, before)
	if !slices.ContainsFunc(s.said, func(said string) bool {
		return strings.Contains(said, shopURL+"/compare/"+old+"..."+next)
	}) {
		t.Errorf("a path among the changes has no link: %q", s.said)
	}
}

// The cases about runs that publish nothing. What a record says is held by package promotion.
func TestPublishCases(t *testing.T) {
	shared.Each(t, "promotion_publish", func(t *testing.T, c struct {
		Input struct {
			DryRun bool `json:"dry_run"`
		}
		Expected struct{ Written []string }
	}) {
		if !c.Input.DryRun {
			t.Skip("about what a record says; package promotion has it")
		}
		s := newScene(t)
		_ = s.dryRun(t, "shop/stage", nil)
		var keys []string
		for key := range s.records() {
			keys = append(keys, key)
		}
		if _, err := s.run(t, ""); err != nil || len(s.records()) != len(c.Expected.Written) ||
			len(keys) != len(c.Expected.Written) {
			t.Errorf("a dry run wrote %q, a run of all saas files %v, %v; want %q", keys, s.records(), err, c.Expected.Written)
		}
	})
}
