package submit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
)

// Results count only if they belong to the part that should have stored them.
func TestCollect(t *testing.T) {
	fake := fakes3.Start(t)
	p := &plan.Plan{Digest: "sha256:" + strings.Repeat("1", 64)}
	of := func(digest string, part int, tasks ...string) string {
		var out bytes.Buffer
		r := &plan.Results{Plan: digest, Part: plan.Fraction{Part: part, Of: 7}}
		for _, task := range tasks {
			r.Results = append(r.Results, plan.Result{Task: task, Status: plan.Passed, Attempts: 1})
		}
		if err := plan.WriteResults(&out, r); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	fake.Put("runs/x/results-1-0.json", of(p.Digest, 2, "b"))
	fake.Put("runs/x/results-1-1.json", of(p.Digest, 2))
	fake.Put("runs/x/results-1-2.json", of("sha256:"+strings.Repeat("2", 64), 4))
	fake.Put("runs/x/results-1-3.json", of(p.Digest, 5)[:20])
	fake.Put("runs/x/results-1-4.json", of(p.Digest, 6, "f", "b"))
	bucket, err := objects.Open(t.Context(), fakes3.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	s := session{Submission{plan: p, folder: "s3://" + fakes3.Bucket + "/runs/x"}, Backend{Bucket: bucket}, "runs/x"}
	s.opts.Job.Parts = 7
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		s.parts = append(s.parts, plan.Part{Tasks: []plan.Task{{ID: id}}})
	}
	collected, missing, err := s.collect(t.Context(), round{first: 1, parts: 6})
	if err != nil || len(collected) != 1 || collected[0].Part.Part != 2 {
		t.Errorf("got %v, %v", collected, err)
	}
	want := []string{"part 3/7 left results of another plan or part", "part 4/7 left results of another plan or part",
		"part 5/7 left results that cannot be used: reading the results: the document ends too early",
		"part 6/7 left results of another plan or part",
		"part 7/7 left no results"}
	if !slices.Equal(missing, want) {
		t.Errorf("got %q, want %q", missing, want)
	}
}
