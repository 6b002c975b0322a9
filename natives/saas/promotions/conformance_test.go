package promotions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// begin is the first moment of the tests.
var begin = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

const (
	file     = "data/services/shop/saas.yml"
	saasFile = `# a saas file
$schema: /app-sre/saas-file-2.yml
name: shop
resourceTemplates:
- name: shop
  targets:
  - namespace: {$ref: /ns/stage.yml}
    ref: main
    promotion: {publish: [stage]}
  - namespace: {$ref: /ns/prod.yml}
    ref: 1111111111111111111111111111111111111111 # by us
    promotion:
      auto: true
      subscribe: [stage]
`
)

// wantRef returns the entry of the production of the file.
func wantRef(ref string) entry {
	return entry{File: file, Template: "shop", Namespace: "/ns/prod.yml", Ref: ref, was: strings.Repeat("1", 40),
		key: "prod", label: "shop/shop prod"}
}

// refs are the commits of the contents of the cases.
var refs = map[string]string{"D1": strings.Repeat("d1", 20), "D2": strings.Repeat("d2", 20)}

// newKeeper returns the keeper of the file, as a loop makes it.
func newKeeper(t *testing.T, f *fakeForge, m memory, wants ...entry) *keeper {
	t.Helper()
	branch := promotion.Branch([]string{file})
	k := &keeper{settings: ownSettings{Branch: "main"}, forge: f, now: f.now, mainHead: f.heads["main"], branch: branch,
		head: f.heads[branch], wants: wants, memory: m}
	open, err := f.MergeRequests(t.Context(), promotion.BranchPrefix)
	if err != nil {
		t.Fatal(err)
	}
	for i := range open {
		if open[i].Branch == branch {
			k.open = &open[i]
		}
	}
	return k
}

// A requestCase is the input of the area merge_request.
type requestCase struct {
	Branch       *string
	MR           *string
	Desired      *string
	Files        string `json:"base_files"`
	Main         string
	Commit       string
	File         *string
	HasConflicts bool `json:"has_conflicts"`
	Targets      int  // whose checks failed together
	DryRun       bool `json:"dry_run"`
	isGone       bool
}

// scene brings a forge into the state of a case.
func (c requestCase) scene(t *testing.T) (*fakeForge, memory) {
	t.Helper()
	f := newForge(map[string]string{file: saasFile, "other": "1"})
	var m memory
	if c.MR != nil && *c.MR == "label only" {
		f.commit("by-hand", f.commits[f.heads["main"]].files, "by hand", f.heads["main"])
		if _, err := f.Open(t.Context(),
			services.MergeText{Branch: "by-hand", Labels: []string{"saas-promotion"}}); err != nil {
			t.Fatal(err)
		}
	}
	if c.Branch != nil {
		name, _, byPerson := strings.Cut(*c.Branch, " + ")
		k := newKeeper(t, f, m, wantRef(refs[name]))
		if err := k.keep(t.Context()); err != nil {
			t.Fatal(err)
		}
		m = k.memory
		if byPerson {
			f.edit(k.branch, file, strings.Replace(saasFile, "by us", "by me", 1))
		}
	}
	if c.MR != nil && len(f.requests) > 0 {
		switch r := f.requests[len(f.requests)-1]; *c.MR {
		case "open", "label only":
		case "merged":
			r.State, r.Merged = services.MergeDone, f.now
		case "closed by a person":
			r.State = services.MergeClosed
		case "closed by us", "closed":
			r.State, r.ClosedByUs = services.MergeClosed, true
		default:
			t.Fatalf("unknown state %q", *c.MR)
		}
	} else if c.MR == nil {
		f.requests = nil
		m.Number = 0
	}
	if c.Files == "changed" {
		f.edit("main", file, strings.Replace(saasFile, "a saas file", "my saas file", 1))
	}
	if f.conflicting = c.HasConflicts; c.Main == "moved" || c.HasConflicts {
		f.edit("main", "other", "2")
	}
	if c.Commit == "400" {
		f.moved = 100
	}
	if c.isGone {
		f.edit("main", file, "")
	}
	f.writes = nil
	return f, m
}

// Words of the cases for what was written.
var writeWords = map[string]string{"describe": "update"}

func TestMergeRequestCases(t *testing.T) {
	type expected struct{ Actions []string }
	shared.Each(t, "merge_request", func(t *testing.T, c struct {
		Input    map[string]json.RawMessage
		Expected expected
	}) {
		raw, err := json.Marshal(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		var in requestCase
		words := json.NewDecoder(bytes.NewReader(raw))
		words.DisallowUnknownFields()
		if err := words.Decode(&in); err != nil {
			t.Fatalf("the driver does not know a word: %v", err)
		}
		in.isGone = string(c.Input["file"]) == "null"
		switch {
		case in.DryRun:
			checkDryRun(t, c.Expected.Actions)
		case in.MR != nil && *in.MR == "failed":
			in.checkFailed(t, c.Expected.Actions)
		default:
			in.check(t, c.Expected.Actions)
		}
	})
}

// check lets a keeper keep the merge request of a case.
func (c requestCase) check(t *testing.T, want []string) {
	f, m := c.scene(t)
	var wants []entry
	switch {
	case c.Desired != nil:
		wants = append(wants, wantRef(refs[*c.Desired]))
	case c.Commit != "" || c.isGone:
		wants = append(wants, wantRef(refs["D1"]))
	}
	k := newKeeper(t, f, m, wants...)
	err := k.keep(t.Context())
	got := worded(k.did)
	switch tries := fmt.Sprintf("retry %d", len(f.writes)); {
	case c.Commit == "400":
		got = []string{tries}
	case len(k.dropped) > 0:
		got = append(got, "error")
	case err != nil:
		t.Fatal(err)
	}
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("got %q (%s), want %q", got, k.hold, want)
	}
	// The next loop finds everything as it is to be.
	f.moved = 0
	if c.Commit == "" {
		again := newKeeper(t, f, k.memory, wants...)
		if err := again.keep(t.Context()); err != nil || len(again.did) > 0 {
			t.Errorf("the next loop did %q, %v", again.did, err)
		}
	}
}

func worded(did []string) []string {
	var out []string
	for _, action := range did {
		if word := writeWords[action]; word != "" {
			action = word
		}
		out = append(out, action)
	}
	return out
}

// checkFailed lets a loop look at a merge request whose checks failed. Actions are counted: "commit 2". To close one
// is a sentence, the closing, and the end of its branch.
func (c requestCase) checkFailed(t *testing.T, want []string) {
	s := newScene(t, 1, c.Targets)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.mustLoop("commit", "open")
	s.forge.requests[0].Checks = services.ChecksFailed
	wrote, err := s.loop()
	if err != nil {
		t.Fatal(err)
	}
	did := strings.Replace(strings.Join(wrote, " "), "note close delete branch", "close", 1)
	var got []string
	for _, action := range strings.Fields(did) {
		n := strings.Count(did, action)
		if n > 1 {
			action = fmt.Sprintf("%s %d", action, n)
		}
		if !slices.Contains(got, action) {
			got = append(got, action)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%s", wrote, want, s.log.String())
	}
	s.mustLoop()
}

// checkDryRun makes a dry run, which prints how the files would change.
func checkDryRun(t *testing.T, want []string) {
	s := newScene(t, 1, 2)
	s.code = []string{sha(2), sha(1)}
	s.deployAll(sha(2))
	s.forge.writes = nil
	if err := s.native().DryRun(t.Context(), s.env()); err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(s.forge.writes)
	if text := s.log.String(); strings.Contains(text, "--- "+s.file(0)) &&
		strings.Count(text, "\n-    ref: "+sha(1)) == 2 && strings.Count(text, "\n+    ref: "+sha(2)) == 2 {
		got = append(got, "print")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%s", got, want, s.log.String())
	}
}
