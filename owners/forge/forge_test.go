package forge_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/owners/review"
)

// approved lets both owners approve, and runs.
func (w *world) approved(t *testing.T) {
	t.Helper()
	w.say("ann", "/lgtm", time.Minute)
	w.say("bob", "/lgtm", time.Minute)
	if _, err := w.runAt(t, w.head()); err != nil || !w.hasApproval() || !w.hasStatus() {
		t.Fatalf("labels %q, statuses %+v, %v", w.server.Labels(), w.server.Statuses(), err)
	}
}

// A status of another pipeline of the head does not stay approved, and each pipeline gets its own.
func TestPipelinesOfOneHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.approved(t)
		w.server.AddPipeline(2000, w.head())
		w.server.AddStatus(gitlabtest.Status{Pipeline: 2000, Author: gitlabtest.Bot, Name: "prcheck-owners", State: "success",
			Description: "2 places approved"})
		w.say("bob", "/hold", time.Minute)
		if _, err := w.runAt(t, w.head()); err != nil {
			t.Fatal(err)
		}
		all := w.server.Statuses()
		isRight := func(s gitlabtest.Status) bool { return s.State == "failed" && s.Description == "held" }
		if len(all) != 2 || !isRight(all[0]) || !isRight(all[1]) {
			t.Errorf("statuses %+v", all)
		}
		w.server.AddPipeline(3000, w.head())
		f := w.forge(t, w.head())
		f.Pipeline.Pipeline = 3000
		if r, err := f.Read(t.Context()); err != nil || r.Status.Text != "" {
			t.Errorf("a pipeline without a status has %+v, %v", r.Status, err)
		}
		f.Pipeline.SHA = gitlabtest.SHA // merged results
		if r, err := f.Read(t.Context()); err != nil || r.Status.Text != "held" {
			t.Errorf("a pipeline of merged results has %+v, %v", r.Status, err)
		}
	})
}

// In a pipeline of merged results the status is that of the head, not of the commit of the pipeline.
func TestMergedResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.server.AddPipeline(5000, gitlabtest.SHA)
		f := w.forge(t, w.head())
		f.Pipeline.SHA, f.Pipeline.Pipeline = gitlabtest.SHA, 5000
		if err := f.Write(t.Context(), statusOf(w.head())); err != nil {
			t.Fatal(err)
		}
		if all := w.server.Statuses(); len(all) != 1 || all[0].Pipeline != 1001 || all[0].State != "success" {
			t.Errorf("statuses %+v", all)
		}
	})
}

func statusOf(head string) review.Write {
	return review.Write{Head: head, Status: &review.Status{IsApproved: true, Text: "1 place approved"}}
}

// Of two notes one stays.
func TestSecondNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.approved(t)
		first := w.server.Notes("<!-- prcheck-owners:")
		w.server.AddNote(gitlabtest.Note{Author: gitlabtest.Bot, Body: first[0].Body})
		if _, err := w.runAt(t, w.head()); err != nil {
			t.Fatal(err)
		}
		if all := w.server.Notes("<!-- prcheck-owners:"); len(all) != 1 || all[0].ID != first[0].ID {
			t.Errorf("notes %+v", all)
		}
	})
}

// Who said what: the description is of the author, and of whom GitLab names if it changed; the button counts while the
// approval stands; what the user of the token writes is nobody's word.
func TestComments(t *testing.T) {
	begin := time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)
	system := func(by, body string) gitlabtest.Note {
		return gitlabtest.Note{Author: 900, By: by, Body: body, System: true, At: begin.Add(time.Hour)}
	}
	tests := []struct {
		name      string
		body      string
		note      gitlabtest.Note
		approvers []string
		want      bool
	}{
		{"the description", "/lgtm", gitlabtest.Note{}, nil, true},
		{"the description, changed by its author", "/lgtm", system("ann", "changed the description"), nil, true},
		{"the description, changed by another", "/lgtm", system("eve", "changed the description"), nil, false},
		{"the description, changed in words that nobody knows", "/lgtm", system("eve", "edited the text"), nil, false},
		{"something else, changed by another", "/lgtm", system("eve", "requested review from @bob"), nil, true},
		{"a draft no longer", "/lgtm", system("eve", "marked this merge request as **ready**"), nil, true},
		{"a ticked box", "/lgtm", system("eve", "marked the checklist item **x** as completed"), nil, false},
		{"the button", "", system("ann", "approved this merge request"), []string{"ann"}, true},
		{"the button, taken back", "", system("ann", "approved this merge request"), nil, false},
		{"the button at a time that nobody knows", "", gitlabtest.Note{}, []string{"ann"}, false},
		{"a comment that looks like the button", "", gitlabtest.Note{Author: 900, By: "ann",
			Body: "approved this merge request", At: begin.Add(time.Hour)}, []string{"ann"}, false},
		{"the own bot", "", gitlabtest.Note{Author: gitlabtest.Bot, By: "ann", Body: "/lgtm", At: begin.Add(time.Hour)}, nil,
			false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.server.SetProposal(gitlabtest.Proposal{Author: "ann", Opened: begin, Description: tt.body,
					Approvers: tt.approvers})
				w.push(values{"1", "1"})
				if tt.note.Body != "" {
					w.server.AddNote(tt.note)
				}
				r, err := w.forge(t, w.head()).Read(t.Context())
				got := slices.ContainsFunc(r.Comments, func(c review.EditedComment) bool {
					return c.By == "ann" && c.Body == "/lgtm" && (c.EditedAt.IsZero() || c.EditedBy == "ann") &&
						!c.WrittenAt.Before(r.Versions[0].PushedAt)
				})
				if err != nil || got != tt.want {
					t.Errorf("ann approved: %v, %v\n%+v", got, err, r.Comments)
				}
			})
		})
	}
}

// What somebody else wrote into the description may still stand there after its author changed it again.
func TestDescriptionOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		begin := time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)
		w.server.SetProposal(gitlabtest.Proposal{Author: "ann", Opened: begin, Description: "/lgtm"})
		w.push(values{"1", "1"})
		for i, by := range []string{"ann", "eve", "ann"} {
			w.server.AddNote(gitlabtest.Note{Author: 900, By: by, Body: "changed the description", System: true,
				At: begin.Add(time.Duration(i+1) * time.Hour)})
		}
		r, err := w.forge(t, w.head()).Read(t.Context())
		if err != nil || r.Comments[0].EditedBy != "eve" {
			t.Errorf("got %+v, %v", r.Comments[0], err)
		}
	})
}

// While GitLab has a version that is not yet its head nothing can be decided, and nothing lets the change through.
func TestVersionBeforeHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.approved(t)
		head := w.head()
		w.push(values{"2", "2"})
		w.server.SetHead(head)
		if _, err := w.runAt(t, head); err == nil || w.hasApproval() || w.hasStatus() {
			t.Errorf("labels %q, statuses %+v, %v", w.server.Labels(), w.server.Statuses(), err)
		}
		if slices.Contains(w.server.Labels(), "self-serviceable") {
			t.Errorf("labels %q", w.server.Labels())
		}
	})
}

// Thousands of notes, some of them as long as GitLab takes, hide no word.
func TestManyNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		long := strings.Repeat("lorem ipsum\n", 80_000)
		for i := range 2_000 {
			body := "fine"
			if i%100 == 0 {
				body = long
			}
			w.server.AddNote(gitlabtest.Note{Author: 900, By: "eve", Body: body, At: w.now})
		}
		w.approved(t)
	})
}
