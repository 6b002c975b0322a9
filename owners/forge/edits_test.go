package forge_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/owners/review"
)

// GitLab tells in GraphQL who changed the text of a comment last, and when. Where it does not tell, nobody knows; and
// where it does not answer, nothing is decided.
func TestEdits(t *testing.T) {
	const unknown = "(nobody knows)"
	for _, c := range []struct {
		name, by string
		refuses  int  // status of GraphQL
		isOld    bool // GraphQL does not know who edits
		want     string
	}{
		{name: "its author", by: "bob", want: "edited by bob after 2m0s"},
		{name: "somebody else", by: "eve", want: "edited by eve after 2m0s"},
		{name: "a reaction", want: "not edited"},
		{name: "an old GitLab", by: "bob", isOld: true, want: "edited by " + unknown + " after 2m0s"},
		{name: "no GraphQL", by: "bob", refuses: 404, want: "edited by " + unknown + " after 2m0s"},
		{name: "a refusal", by: "bob", refuses: 403, want: "edited by " + unknown + " after 2m0s"},
		{name: "no answer", by: "bob", refuses: 503, want: "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.server.NoEdits = c.isOld
				for range 250 { // more than two pages
					w.say("zoe", "fine", time.Second)
				}
				w.say("bob", "/lgtm", time.Minute)
				w.now = w.now.Add(time.Minute)
				w.edit(len(w.said)-1, c.by)
				if c.refuses != 0 {
					w.server.Fault = func(_ int, r *http.Request) gitlabtest.Fault {
						if r.URL.Path == "/api/graphql" {
							return gitlabtest.Fault{Status: c.refuses, Undone: true}
						}
						return gitlabtest.Fault{}
					}
				}
				r, err := w.forge(t, w.head()).Read(t.Context())
				if got := told(r.Comments, unknown); err == nil && got != c.want || err != nil && c.want != "error" {
					t.Errorf("%s, %v, want %s", got, err, c.want)
				}
			})
		})
	}
}

// told says who edited the last comment.
func told(comments []review.EditedComment, unknown string) string {
	if len(comments) == 0 {
		return "no comment"
	}
	switch c := comments[len(comments)-1]; {
	case c.EditedAt.IsZero():
		return "not edited"
	case c.EditedBy == "":
		return fmt.Sprintf("edited by %s after %s", unknown, c.EditedAt.Sub(c.WrittenAt))
	default:
		return fmt.Sprintf("edited by %s after %s", c.EditedBy, c.EditedAt.Sub(c.WrittenAt))
	}
}

// The members of a group are people, over several pages. A name that is that of no group is told, and a refusal is an
// error.
func TestGroupMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var many []string
		for i := range 250 {
			many = append(many, fmt.Sprint("p", i))
		}
		w.server.Groups = map[string][]string{"org/team": append(many, "group_7_bot_1a2b"), "empty": {}}
		c := w.forge(t, w.head()).Client
		if got, ok, err := c.GroupMembers(t.Context(), "org/team"); err != nil || !ok || !slices.Equal(got, many) {
			t.Errorf("got %d members, %v, %v", len(got), ok, err)
		}
		if got, ok, err := c.GroupMembers(t.Context(), "empty"); err != nil || !ok || len(got) > 0 {
			t.Errorf("an empty group: got %v, %v, %v", got, ok, err)
		}
		if _, ok, err := c.GroupMembers(t.Context(), "ann"); err != nil || ok {
			t.Errorf("a person: %v, %v", ok, err)
		}
		w.server.Fault = func(int, *http.Request) gitlabtest.Fault { return gitlabtest.Fault{Status: 403, Undone: true} }
		if _, _, err := c.GroupMembers(t.Context(), "org/team"); err == nil {
			t.Error("a refusal is no error")
		}
	})
}
