package simulation

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/promotions"
)

// A bucket has records by key.
type bucket map[string]string

func (b bucket) Get(_ context.Context, key string) ([]byte, string, error) {
	text, ok := b[key]
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return []byte(text), text, nil
}

func (b bucket) Keys(_ context.Context, prefix string) ([]string, error) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b)), func(k string) bool { return !strings.HasPrefix(k, prefix) }),
		nil
}

func (b bucket) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	if b[key] != version {
		return "", integration.ErrChanged
	}
	b[key] = string(raw)
	return string(raw), nil
}

func (b bucket) Remove(context.Context, string, string) error { return integration.ErrChanged }

// A commit walks from the branch to production through the three natives, as docs/saas.md tells it:
// a Job deploys stage, the record opens a merge request, its merge starts one Job for production. A
// commit whose template is broken stays in stage, and a quiet world writes nothing.
func TestWalkFromCommitToProduction(t *testing.T) {
	w := newWhole(t)
	second, broken, third := strings.Repeat("2", 39)+"a", strings.Repeat("3", 39)+"b", strings.Repeat("4", 39)+"c"
	for range 4 {
		w.loop()
	}
	first := w.tag("shop-stage")
	if w.runs("shop/stage") != "Complete" || w.runs("shop/production") != "Complete" || first == "" ||
		w.tag("shop-production") != first {
		t.Fatalf("at first: %v, %q\n%q\n%s", w.jobs, w.tag("shop-production"), w.held, w.log.String())
	}
	w.push(second, wholeTemplate)
	w.loop()
	w.loop()
	open := w.repo.OpenMergeRequests()
	if w.tag("shop-stage") != "t"+second[:7] || w.tag("shop-production") != first || len(open) != 1 {
		t.Fatalf("stage runs %s, production %s, %d merge requests\n%q", w.tag("shop-stage"), w.tag("shop-production"),
			len(open), w.held)
	}
	w.agree(open[0])
	if err := w.repo.Merge(open[0].IID, gitlabtest.Jane); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.loop()
	}
	if w.tag("shop-production") != "t"+second[:7] || w.runs("shop/production") != "Complete Complete" ||
		w.runs("shop/stage") != "Complete Complete" {
		t.Errorf("production runs %s, Jobs %v", w.tag("shop-production"), w.jobs)
	}
	w.cluster.Forget()
	before := len(w.repo.MergeRequests())
	if w.loop(); len(w.cluster.Writes()) > 0 || len(w.repo.MergeRequests()) != before {
		t.Errorf("a quiet loop wrote %v", w.cluster.Writes())
	}
	w.push(broken, "{")
	for range 4 {
		w.loop()
	}
	if w.runs("shop/stage") != "Complete Complete Failed" || len(w.repo.OpenMergeRequests()) > 0 ||
		!strings.Contains(strings.Join(w.held, " "), "shop/stage") {
		t.Errorf("a broken template: Jobs %v, held %q", w.jobs, w.held)
	}
	w.push(third, wholeTemplate)
	w.loop()
	w.loop()
	if open = w.repo.OpenMergeRequests(); len(open) != 1 || w.tag("shop-stage") != "t"+third[:7] ||
		!strings.Contains(open[0].Description, third) {
		t.Errorf("after the repair stage runs %s, merge requests %v", w.tag("shop-stage"), open)
	}
}

// agree holds that the part of the product which the long simulation uses makes the merge request
// that the native made.
func (w *whole) agree(want gitlabtest.MergeRequest) {
	w.t.Helper()
	text, _ := w.repo.File(gitlabtest.DefaultBranch, wholePath)
	repo := gitlabtest.NewRepository(w.t, map[string]string{wholePath: text})
	m := w.model()
	of := promotions.Component{Branch: gitlabtest.DefaultBranch, Files: []string{wholePath}, Now: w.now,
		MainHead: repo.Head(gitlabtest.DefaultBranch)}
	for _, target := range m.Files[0].Templates[0].Targets {
		if target.Promotion == nil || !target.Promotion.Auto {
			continue
		}
		in := *target
		in.Place.File = "/" + wholePath // the native has the folder from its settings
		q := promotion.Question{Subject: promotion.Of(m, target, saas.Settings{}), Branches: [][]string{w.code}, Now: w.now}
		q.Logs = promotion.NewRecords(w.bucket, 1).Read(w.t.Context(), q.Subject, w.code...)
		of.Targets = append(of.Targets, promotions.Candidate{Target: &in, Question: q})
	}
	did, _, err := promotions.Keep(w.t.Context(), forgeOf(w.t, repo), of)
	got := repo.MergeRequests()
	if err != nil || strings.Join(did, " ") != "commit open" || len(got) != 1 {
		w.t.Fatalf("did %q, %v, %d merge requests", did, err, len(got))
	}
	is, _ := repo.File(got[0].Head, wholePath)
	wanted, _ := w.repo.File(want.Head, wholePath)
	if got[0].Title != want.Title || withoutTimes(got[0].Description) != withoutTimes(want.Description) ||
		got[0].Source != want.Source || is != wanted || is == text {
		w.t.Errorf("got %+v\nwant %+v\ngot the file\n%s\nwant\n%s", got[0], want, is, wanted)
	}
}

// withoutTimes returns a description without for how long commits ran, which the long simulation does not know.
func withoutTimes(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "  - it ran ") {
			out.WriteString(line)
		}
	}
	return out.String()
}
