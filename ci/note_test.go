package ci

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/gitlabtest"
)

func body(generation int64, text, before string) string {
	got, _ := fake{generation, text}.Body(map[bool]string{true: "", false: marker + before + " -->"}[before == "nothing"])
	return strings.TrimSpace(got)
}

// A single publisher creates, updates and keeps the note.
func TestPublish(t *testing.T) {
	bot := func(body string) gitlabtest.Note { return gitlabtest.Note{Author: gitlabtest.Bot, Body: body} }
	tests := []struct {
		name   string
		there  []gitlabtest.Note
		change Change
		writes []string
		want   string
		took   time.Duration
	}{
		{"none", nil, Created, []string{"POST notes"}, body(8, "new", "nothing"), DefaultSettle},
		{"older", []gitlabtest.Note{bot(body(5, "old", "3"))}, Updated, []string{"PUT notes/1"}, body(8, "new", "5"),
			DefaultSettle},
		{"the same", []gitlabtest.Note{bot(body(8, "new", "8"))}, Untouched, nil, body(8, "new", "8"), 0},
		{"of an earlier attempt", []gitlabtest.Note{bot(body(8, "old", "8"))}, Updated, []string{"PUT notes/1"},
			body(8, "new", "8"), DefaultSettle},
		{"newer", []gitlabtest.Note{bot(body(9, "newer", "5"))}, Superseded, nil, body(9, "newer", "5"), 0},
		{"broken", []gitlabtest.Note{bot(marker + "x -->")}, Updated, []string{"PUT notes/1"}, body(8, "new", "nothing"),
			DefaultSettle},
		{"of others", []gitlabtest.Note{
			{Author: gitlabtest.Human, Body: body(9, "forged", "5")},
			{Author: gitlabtest.Bot, Body: body(9, "of the system", "5"), System: true},
			bot("<!-- prcheck:test2 9 -->"), bot("says " + marker + "9 -->"),
		}, Created, []string{"POST notes"}, body(8, "new", "nothing"), DefaultSettle},
		{"several", []gitlabtest.Note{bot(body(5, "a", "3")), bot(body(6, "b", "3")), bot(body(4, "c", "3"))}, Updated,
			[]string{"PUT notes/1", "DELETE notes/2", "DELETE notes/3"}, body(8, "new", "6"), 2 * DefaultSettle},
		{"several, one of them newer", []gitlabtest.Note{bot(body(5, "a", "3")), bot(body(9, "b", "3"))}, Superseded,
			[]string{"PUT notes/1", "DELETE notes/2"}, body(9, "b", "3"), 2 * DefaultSettle},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server(t)
				for _, n := range tt.there {
					s.AddNote(n)
				}
				var got Published
				var err error
				if d := took(func() { got, err = client(t, memory{s}).Publish(t.Context(), mr, fake{8, "new"}) }); d != tt.took {
					t.Errorf("took %s, want %s", d, tt.took)
				}
				notes := s.Notes(marker)
				if err != nil || got.Change != tt.change || got.Body != tt.want || len(notes) != 1 || notes[0].Body != tt.want ||
					notes[0].ID != got.ID {
					t.Errorf("got %+v, %v, notes %+v\nwant %s, %q", got, err, notes, tt.change, tt.want)
				}
				if got := writes(s); !slices.Equal(got, tt.writes) {
					t.Errorf("wrote %q, want %q", got, tt.writes)
				}
			})
		})
	}
}

// Errors of single requests.
func TestPublishFaults(t *testing.T) {
	old := []gitlabtest.Note{{Author: gitlabtest.Bot, Body: body(5, "old", "3")}}
	tests := []struct {
		name   string
		there  []gitlabtest.Note
		method string
		fault  gitlabtest.Fault
		times  int
		writes []string
		err    string
	}{
		{"lost answer to a stored POST", nil, "POST", gitlabtest.Fault{Drop: true}, 1, []string{"POST notes"}, ""},
		{"502 to a stored POST", nil, "POST", gitlabtest.Fault{Status: 502, Body: "<html>"}, 1, []string{"POST notes"}, ""},
		{"cut answer to a stored POST", nil, "POST", gitlabtest.Fault{Cut: true}, 1, []string{"POST notes"}, ""},
		{"lost POST", nil, "POST", gitlabtest.Fault{Drop: true, Undone: true}, 1, []string{"POST notes", "POST notes"}, ""},
		{"500 to POST", nil, "POST", gitlabtest.Fault{Status: 500, Undone: true}, 2,
			[]string{"POST notes", "POST notes", "POST notes"}, ""},
		{"429 to POST", nil, "POST", gitlabtest.Fault{Status: 429, Undone: true}, 1, []string{"POST notes", "POST notes"},
			""},
		{"403 to POST", nil, "POST", gitlabtest.Fault{Status: 403, Undone: true, Body: `{"message":"403 Forbidden"}`}, 9,
			[]string{"POST notes"},
			"the note of merge request !12: creating it: status 403 Forbidden: 403 Forbidden (this takes a token with scope api in PRCHECK_GITLAB_TOKEN, of a member of the project who may do it)"},
		{"500 to every POST", nil, "POST", gitlabtest.Fault{Status: 500, Undone: true}, 9,
			slices.Repeat([]string{"POST notes"}, 6),
			"the note of merge request !12: creating it: status 500 Internal Server Error (tried 6 times)"},
		{"lost answer to PUT", old, "PUT", gitlabtest.Fault{Drop: true}, 1, []string{"PUT notes/1"}, ""},
		{"409 to PUT", old, "PUT", gitlabtest.Fault{Status: 409, Undone: true}, 1, []string{"PUT notes/1", "PUT notes/1"},
			""},
		{"404 to PUT", old, "PUT", gitlabtest.Fault{Status: 404, Undone: true}, 1, []string{"PUT notes/1", "PUT notes/1"},
			""},
		{"404 to every PUT", old, "PUT", gitlabtest.Fault{Status: 404, Undone: true}, 9,
			slices.Repeat([]string{"PUT notes/1"}, 6),
			"the note of merge request !12: it was removed meanwhile (tried 6 times)"},
		{"slow PUT", old, "PUT", gitlabtest.Fault{Delayed: time.Hour, Undone: true}, 1,
			[]string{"PUT notes/1", "PUT notes/1"}, ""},
		{"cut list", old, "GET", gitlabtest.Fault{Cut: true}, 3, []string{"PUT notes/1"}, ""},
		{"401", old, "GET", gitlabtest.Fault{Status: 401, Undone: true}, 9, nil,
			"the note of merge request !12: asking for the user of the token: status 401 Unauthorized (this takes a token with scope api in PRCHECK_GITLAB_TOKEN, of a member of the project who may do it)"},
		{"503 to every GET", old, "GET", gitlabtest.Fault{Status: 503, Undone: true}, 99, nil,
			"the note of merge request !12: asking for the user of the token: status 503 Service Unavailable (tried 6 times)"},
		{"a page for people", old, "GET", gitlabtest.Fault{Status: 200, Body: "<html>please sign in"}, 99, nil,
			"the note of merge request !12: asking for the user of the token: invalid character '<' looking for beginning of value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server(t)
				for _, n := range tt.there {
					s.AddNote(n)
				}
				left := tt.times
				s.Fault = func(_ int, r *http.Request) gitlabtest.Fault {
					if r.Method != tt.method || left == 0 {
						return gitlabtest.Fault{}
					}
					left--
					return tt.fault
				}
				_, err := client(t, memory{s}).Publish(t.Context(), mr, fake{8, "new"})
				if text := errorText(err); text != tt.err {
					t.Errorf("got  %s\nwant %s", text, tt.err)
				}
				if got := writes(s); !slices.Equal(got, tt.writes) {
					t.Errorf("wrote %q, want %q", got, tt.writes)
				}
				if notes := s.Notes(marker); err == nil && (len(notes) != 1 || !strings.Contains(notes[0].Body, "8 -->\nnew")) {
					t.Errorf("got %+v", notes)
				}
			})
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The note is found among 5,000 notes on every page, also if the answers have no headers
// about pages, and if other notes are very long.
func TestPublishAmongMany(t *testing.T) {
	for count, noPages := range map[int]bool{5000: false, 500: true} {
		synctest.Test(t, func(t *testing.T) {
			s := server(t)
			s.NoPages = noPages
			for i := range count {
				if i == count-100 {
					s.AddNote(gitlabtest.Note{Author: gitlabtest.Bot, Body: body(5, "old", "3")})
				}
				s.AddNote(gitlabtest.Note{Author: gitlabtest.Human, Body: "LGTM"})
			}
			got, err := client(t, memory{s}).Publish(t.Context(), mr, fake{8, "new"})
			if err != nil || got.ID != count-99 || len(writes(s)) != 1 {
				t.Errorf("got %+v, %v, %q", got, err, writes(s))
			}
		})
	}
}

// long is a server whose pages of a hundred notes are too large.
type long struct{ http.Handler }

func (l long) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Query().Get("per_page") == "100" {
		return nil, errTooLarge
	}
	return memory(l).RoundTrip(req)
}

func TestPublishAmongLongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server(t)
		for range 70 {
			s.AddNote(gitlabtest.Note{Author: gitlabtest.Human, Body: "long"})
		}
		s.AddNote(gitlabtest.Note{Author: gitlabtest.Bot, Body: body(5, "old", "3")})
		got, err := client(t, long{s}).Publish(t.Context(), mr, fake{8, "new"})
		if err != nil || got.ID != 71 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// A Note with a wrong body is not sent.
func TestPublishRefuses(t *testing.T) {
	tests := []struct {
		name string
		note Note
		err  string
	}{
		{"broken", fake{8, "broken"}, "the note of merge request !12: it cannot be rendered"},
		{"too long", fake{8, strings.Repeat("é", MaxBody)},
			"the note of merge request !12: its body has more than 1000000 characters"},
		{"without a generation", nameless{fake{8, "x"}},
			"the note of merge request !12: its body does not begin with its marker and generation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server(t)
			_, err := client(t, memory{s}).Publish(t.Context(), mr, tt.note)
			if errorText(err) != tt.err || len(writes(s)) != 0 {
				t.Errorf("got  %v, %q\nwant %s", err, writes(s), tt.err)
			}
		})
	}
}

type nameless struct{ fake }

func (nameless) Body(string) (string, error) { return "nothing", nil }

// A request waits as long as a server asks, unless that is too long.
func TestRetryAfter(t *testing.T) {
	tests := []struct {
		name   string
		header func() http.Header
		least  time.Duration
		err    bool
	}{
		{"nothing", func() http.Header { return nil }, 0, false},
		{"seconds", func() http.Header { return http.Header{"Retry-After": {"42"}} }, 42 * time.Second, false},
		{"date", func() http.Header {
			return http.Header{"Retry-After": {time.Now().Add(40 * time.Second).UTC().Format(http.TimeFormat)}}
		}, 39 * time.Second, false},
		{"reset", func() http.Header {
			return http.Header{"Ratelimit-Reset": {"946684870"}, "Ratelimit-Remaining": {"0"}} // 2000-01-01 00:01:10
		}, 70 * time.Second, false},
		{"nonsense", func() http.Header { return http.Header{"Retry-After": {"-1"}, "Ratelimit-Reset": {"x"}} }, 0, false},
		{"too long", func() http.Header { return http.Header{"Retry-After": {"3600"}} }, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := server(t)
				s.AddNote(gitlabtest.Note{Author: gitlabtest.Bot, Body: body(8, "new", "8")})
				s.Fault = func(n int, _ *http.Request) gitlabtest.Fault {
					if n > 1 {
						return gitlabtest.Fault{}
					}
					return gitlabtest.Fault{Status: http.StatusTooManyRequests, Header: tt.header(), Undone: true}
				}
				var err error
				d := took(func() { _, err = client(t, memory{s}).Publish(t.Context(), mr, fake{8, "new"}) })
				var refused *RefusedError
				if errors.As(err, &refused) != tt.err || (err != nil) != tt.err || d < tt.least || d > tt.least+3*time.Second {
					t.Errorf("took %s, %v, want %s", d, err, tt.least)
				}
			})
		})
	}
}

// A body is sent without the token and without characters that GitLab would change. So the
// next publisher finds the note unchanged.
func TestPublishOddBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server(t)
		c := client(t, memory{s})
		for _, want := range []Change{Created, Updated, Untouched} { // the body contains the previous one
			got, err := c.Publish(t.Context(), mr, fake{8, "a\x00\xff" + secret + "\r\n"})
			if err != nil || got.Change != want || !strings.Contains(got.Body, "a\uFFFD***") {
				t.Errorf("got %+v, %v, want %s", got, err, want)
			}
		}
	})
}
