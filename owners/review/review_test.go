package review

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/rules"
)

// A values version has the values of the places a and b; in base both are "0".
type values [2]string

var ref = content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: "/s.yml"}

// owner of each place.
var owner = [2]string{"ann", "bob"}

// files covers the change of a version: ann owns a, bob owns b.
func (v values) files(t testing.TB) []*coverage.File {
	t.Helper()
	in := rules.Input{Today: "2026-01-01"}
	for i, place := range []string{"a", "b"} {
		in.Types = append(in.Types, rules.ChangeType{Name: place, ContextSchema: ref.Schema,
			Changes: []rules.ChangeRule{{Selectors: []string{place}}}})
		in.Roles = append(in.Roles, rules.Role{Name: "r" + place, People: []rules.Person{{Name: owner[i]}},
			Binds: []rules.Bind{{Type: place}}, Reach: []string{"channel " + place}})
	}
	r, faults := rules.Compile(in)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c := &content.Change{Ref: ref, Old: map[string]any{"a": "0", "b": "0"}, New: map[string]any{"a": v[0], "b": v[1]}}
	if c.Compare(false); len(c.Differences) == 0 {
		return nil
	}
	return []*coverage.File{coverage.Of(r, c, nil, nil)}
}

// A server is a merge request in memory.
type server struct {
	r       Request
	status  map[string]Status
	content map[string]values
	now     time.Time
	book    approvals.Book
	writes  int
	fails   func() bool // whether a call fails
	between func()      // happens before a call
}

var errDown = errors.New("the server does not answer")

func newServer() *server {
	s := &server{status: map[string]Status{}, content: map[string]values{}, now: time.Unix(0, 0)}
	s.r.Author = "zoe"
	s.push(values{"1", "1"})
	return s
}

func (s *server) call() error {
	if s.between != nil {
		s.between()
	}
	if s.fails != nil && s.fails() {
		return errDown
	}
	return nil
}

func (s *server) Read(context.Context) (Request, error) {
	if err := s.call(); err != nil {
		return Request{}, err
	}
	r := s.r
	r.Labels, r.Status = slices.Clone(r.Labels), s.status[r.Head]
	return r, nil
}

func (s *server) Write(_ context.Context, w Write) error {
	if err := s.call(); err != nil {
		return err
	}
	s.writes++
	s.r.Labels = append(without(s.r.Labels, w.Remove), w.Add...)
	if w.Status != nil {
		s.status[w.Head] = *w.Status
	}
	if w.Note != nil {
		s.r.Note = *w.Note
	}
	return nil
}

func (s *server) Load(context.Context) (approvals.Book, error) {
	return approvals.Book{Entries: slices.Clone(s.book.Entries)}, s.call()
}

func (s *server) Save(_ context.Context, b approvals.Book) error {
	if err := s.call(); err != nil {
		return err
	}
	s.book = b
	return nil
}

func (s *server) push(v values) {
	s.now = s.now.Add(100 * time.Second)
	s.r.Head = fmt.Sprintf("%07x", len(s.r.Versions)+0xa00000)
	s.content[s.r.Head] = v
	s.r.Versions = append(s.r.Versions, approvals.Version{Head: s.r.Head, PushedAt: s.now})
}

func (s *server) say(by, body string, after time.Duration) {
	s.now = s.now.Add(after)
	s.r.Comments = append(s.r.Comments, EditedComment{By: by, Body: body, WrittenAt: s.now})
}

// run runs once about the head that the server has.
func (s *server) run(t testing.TB) (*Outcome, error) {
	t.Helper()
	return Run(t.Context(), s.input(t))
}

func (s *server) input(t testing.TB) Input {
	head := s.r.Head
	return Input{Forge: s, Keeper: s, Head: head, Files: s.content[head].files(t),
		Before: func(head string) ([]*coverage.File, bool) { v, ok := s.content[head]; return v.files(t), ok }}
}

// isApproved says by plain means whether each place that differs was approved as it is.
func (s *server) isApproved() bool {
	isHeld, isChanged := false, false
	for i := range owner {
		value := s.content[s.r.Head][i]
		ok := value == "0"
		isChanged = isChanged || !ok
		hold, byAuthor := false, false
		for _, c := range s.inTime() {
			at, by := c.EditedAt, c.By
			if at.After(c.WrittenAt) && c.EditedBy != by && c.Body != "/hold" {
				continue
			}
			if by == s.r.Author && (c.Body == "/hold" || c.Body == "/hold cancel") ||
				by == owner[i] && c.Body == "/hold cancel" {
				byAuthor = c.Body == "/hold"
			}
			switch {
			case by != owner[i]:
			case c.Body == "/hold":
				hold = true
			case c.Body == "/hold cancel":
				hold = false
			case c.Body == "/lgtm":
				n := len(s.r.Versions) - 1
				for n >= 0 && s.r.Versions[n].PushedAt.After(at) {
					n--
				}
				isSame := s.content[s.r.Versions[n].Head][i] == value
				if at.Sub(s.r.Versions[n].PushedAt) < 10*time.Second && n > 0 {
					isSame = isSame && s.content[s.r.Versions[n-1].Head][i] == value
				}
				ok = ok || isSame
			}
		}
		if !ok {
			return false
		}
		isHeld = isHeld || (hold || byAuthor) && value != "0"
	}
	return isChanged && !isHeld
}

// inTime returns the comments in the order in which they count, all with the time of an edit.
func (s *server) inTime() []EditedComment {
	out := slices.Clone(s.r.Comments)
	for i := range out {
		if out[i].EditedAt.IsZero() {
			out[i].EditedAt = out[i].WrittenAt
		}
	}
	slices.SortStableFunc(out, func(a, b EditedComment) int { return a.EditedAt.Compare(b.EditedAt) })
	return out
}

func (s *server) hasApproval() bool { return slices.Contains(s.r.Labels, "bot/approved: medium") }

// In 1,000 rounds with pushes, words, edits, failures and pushes while it runs, no label lets a head through whose
// places are not all approved, and after a last run none is missing. A second run writes nothing.
func TestRounds(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 1))
	let := 0
	for round := range 1000 {
		s := newServer()
		for range 1 + r.IntN(12) {
			s.step(t, r)
		}
		s.fails, s.between = nil, nil
		if _, err := s.run(t); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		want := s.isApproved()
		if s.hasApproval() != want || s.status[s.r.Head].IsApproved != want {
			t.Fatalf("round %d: labels %q and status %+v, want approved: %v\n%+v\n%v", round, s.r.Labels, s.status[s.r.Head],
				want, s.r.Comments, s.content)
		}
		if want {
			let++
		}
		writes := s.writes
		if _, err := s.run(t); err != nil || s.writes != writes {
			t.Fatalf("round %d: a second run wrote %d times: %v", round, s.writes-writes, err)
		}
	}
	if let < 100 {
		t.Errorf("only %d of 1000 rounds end approved", let)
	}
}

// step does one thing that happens to a merge request.
func (s *server) step(t *testing.T, r *rand.Rand) {
	t.Helper()
	anybody := []string{"ann", "bob", "eve", "zoe"}
	push := func() { s.push(values{fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3))}) }
	switch r.IntN(8) {
	case 0:
		push()
	case 1:
		if i := r.IntN(len(s.r.Comments) + 1); i < len(s.r.Comments) {
			s.now = s.now.Add(time.Minute)
			s.r.Comments[i].EditedAt, s.r.Comments[i].EditedBy = s.now, anybody[r.IntN(4)]
		}
	case 2:
		s.say(anybody[r.IntN(4)], []string{"/hold", "/hold cancel", "fine"}[r.IntN(3)], time.Minute)
	case 3, 4, 5:
		s.say(anybody[r.IntN(3)], "/lgtm", time.Duration(1+r.IntN(40))*time.Second)
	default:
		s.fails = func() bool { return r.IntN(12) == 0 }
		calls, at := 0, r.IntN(30)
		s.between = func() {
			if calls++; calls == at {
				push()
			}
		}
		_, err := s.run(t)
		s.fails, s.between = nil, nil
		if err == nil && s.hasApproval() && !s.isApproved() {
			t.Fatalf("a label lets through what is not approved: %+v %v", s.r, s.content)
		}
	}
}

// An error takes away the labels that let a change through, and a damaged book is an error.
func TestFailsClosed(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	if _, err := s.run(t); err != nil || !s.hasApproval() {
		t.Fatalf("labels %q, %v", s.r.Labels, err)
	}
	calls := 0
	s.fails = func() bool { calls++; return calls <= 2 } // nothing can be read
	_, err := s.run(t)
	if !errors.Is(err, errDown) || s.hasApproval() || s.status[s.r.Head].IsApproved {
		t.Errorf("labels %q after %v", s.r.Labels, err)
	}
	s.fails = nil
	if _, err := s.run(t); err != nil || !s.hasApproval() {
		t.Fatalf("labels %q, %v", s.r.Labels, err)
	}
	calls = 0
	s.fails = func() bool { calls++; return calls == 2 } // the book cannot be read
	_, err = s.run(t)
	if !errors.Is(err, errDown) || s.hasApproval() || s.status[s.r.Head].IsApproved ||
		slices.Contains(s.r.Labels, "self-serviceable") {
		t.Errorf("labels %q after %v", s.r.Labels, err)
	}
}

// What somebody says while a decision is written is not overlooked, and after an error the status goes as well.
func TestSaidMeanwhile(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	for at := range 12 {
		calls := 0
		s.between = func() {
			if calls++; calls == at {
				s.say("bob", "/hold", time.Minute)
			}
		}
		_, err := s.run(t)
		s.between = nil
		if isLet := s.hasApproval() || s.status[s.r.Head].IsApproved; isLet && !s.isApproved() {
			t.Errorf("a word before call %d: let through with %q, %+v, %v", at, s.r.Labels, s.status, err)
		}
		s.say("bob", "/hold cancel", time.Minute)
	}
}

// An approval is of the value in base as it was: with another base of the same head it is lost, if the book has it or
// the version is known.
func TestOtherBaseOfTheHead(t *testing.T) {
	for _, isKept := range []bool{true, false} {
		s := newServer()
		s.say("ann", "/lgtm", time.Minute)
		s.say("bob", "/lgtm", time.Minute)
		if _, err := s.run(t); err != nil || !s.hasApproval() {
			t.Fatalf("labels %q, %v", s.r.Labels, err)
		}
		in := Input{Forge: s, Keeper: s, Head: s.r.Head, Files: values{"1", "1"}.files(t)}
		in.Files[0].Old = map[string]any{"a": "7", "b": "0"}
		in.Files[0].Roots[0].Old = "7"
		if !isKept {
			s.book = approvals.Book{}
			in.Before = func(string) ([]*coverage.File, bool) { return values{"1", "1"}.files(t), true }
		}
		out, err := Run(t.Context(), in)
		if err != nil || s.hasApproval() || len(out.open()) != 1 {
			t.Errorf("kept %v: labels %q, %v", isKept, s.r.Labels, err)
		}
	}
}

// Of a comment that nobody knows who edited the words count that keep a change back, and no others.
func TestEditedByNobodyKnows(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	s.r.Comments[1].EditedAt = s.now.Add(time.Minute)
	if _, err := s.run(t); err != nil || s.hasApproval() || !strings.Contains(s.r.Note, "Comments of bob were edited") {
		t.Errorf("an edited approval: labels %q, %v\n%s", s.r.Labels, err, s.r.Note)
	}
	s.say("bob", "/lgtm", time.Minute)
	s.say("ann", "/hold", time.Minute)
	s.r.Comments[3].EditedAt = s.now.Add(time.Minute)
	if _, err := s.run(t); err != nil || s.hasApproval() || !slices.Contains(s.r.Labels, "bot/hold") {
		t.Errorf("an edited hold: labels %q, %v", s.r.Labels, err)
	}
}

// Settings may let edited comments count. The note names whose.
func TestEditsThatCount(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	s.r.Comments[1].EditedAt, s.r.Comments[1].EditedBy = s.now.Add(time.Minute), "eve"
	in := s.input(t)
	in.CountsEdits = true
	if _, err := Run(t.Context(), in); err != nil || s.hasApproval() {
		t.Errorf("eve edited it: labels %q, %v", s.r.Labels, err)
	}
	s.r.Comments[1].EditedBy = ""
	if _, err := Run(t.Context(), in); err != nil || !s.hasApproval() ||
		!strings.Contains(s.r.Note, "Edited comments of bob count") {
		t.Errorf("labels %q, %v\n%s", s.r.Labels, err, s.r.Note)
	}
}

// The note says what was lost and why, whom to ask and where, and mentions nobody.
func TestNote(t *testing.T) {
	s := newServer()
	s.say("ann", "/lgtm", time.Minute)
	s.say("bob", "/lgtm", time.Minute)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	s.push(values{"1", "2"})
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 place not approved", "Ask bob.", "channel b",
		"the approval of bob is lost: the change makes another value of it now", "approved by ann", "| open | bob |"} {
		if !strings.Contains(s.r.Note, want) {
			t.Errorf("the note lacks %q:\n%s", want, s.r.Note)
		}
	}
	if strings.Contains(s.r.Note, "@") || strings.Contains(s.r.Note, "channel a") {
		t.Errorf("the note names too many:\n%s", s.r.Note)
	}
}
