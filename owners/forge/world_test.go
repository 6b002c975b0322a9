package forge_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/doubles/gitlabtest"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/forge"
	"github.com/app-sre/prcheck/owners/rules"
)

// A values version has the values of the places a and b; in base both are "0".
type values [2]string

// owner of each place.
var owner = [2]string{"ann", "bob"}

// files covers the change of a version: ann owns a, bob owns b.
func (v values) files(t testing.TB) []*coverage.File {
	t.Helper()
	in := rules.Input{Today: "2026-01-01"}
	ref := content.Ref{Kind: content.Datafile, Path: "/f.yml", Schema: "/s.yml"}
	for i, place := range []string{"a", "b"} {
		in.Types = append(in.Types, rules.ChangeType{Name: place, ContextSchema: ref.Schema,
			Changes: []rules.ChangeRule{{Selectors: []string{place}}}})
		in.Roles = append(in.Roles, rules.Role{Name: "r" + place, People: []rules.Person{{Name: owner[i]}},
			Binds: []rules.Bind{{Type: place}}})
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

// A memory is a transport that calls a server without a network.
type memory struct{ http.Handler }

func (m memory) RoundTrip(req *http.Request) (res *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			res, err = nil, io.ErrUnexpectedEOF
		}
	}()
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(raw))
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, req)
	res = w.Result()
	res.Request = req
	return res, nil
}

// A saying is what somebody wrote, or approved by the button.
type saying struct {
	id       int
	by, body string
	at       time.Time
	isEdited bool // by somebody else
}

// A world is a merge request, and what happened to it.
type world struct {
	server  *gitlabtest.Server
	mu      sync.Mutex // of what follows
	now     time.Time
	heads   []string
	content map[string]values
	pushed  map[string]time.Time
	said    []saying
	pressed []saying
	keeper  keeper
	failed  int

	since                 int // requests since something happened
	happened, wasApproved bool
}

const token = "glpat-canary/tok+en_123"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{server: &gitlabtest.Server{Token: token, Pipelines: map[int]string{}}, content: map[string]values{},
		pushed: map[string]time.Time{}, now: time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)}
	t.Cleanup(func() {
		for _, wrong := range w.server.Wrong() {
			t.Error(wrong)
		}
	})
	w.server.SetProposal(gitlabtest.Proposal{Author: "zoe", Opened: w.now})
	w.push(values{"1", "1"})
	return w
}

func (w *world) push(v values) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(100 * time.Second)
	head := fmt.Sprintf("%040x", len(w.heads)+0xa000)
	w.heads = append(w.heads, head)
	w.content[head], w.pushed[head] = v, w.now
	w.server.AddPipeline(1000+len(w.heads), head)
	w.server.Push(gitlabtest.Version{Head: head, Base: "b", At: w.now})
}

func (w *world) head() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heads[len(w.heads)-1]
}

func (w *world) say(by, body string, after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(after)
	id := w.server.AddNote(gitlabtest.Note{Author: 900, By: by, Body: body, At: w.now})
	w.said = append(w.said, saying{id: id, by: by, body: body, at: w.now})
}

// edit lets somebody change a comment to what it says already. Without a name somebody reacts to it.
func (w *world) edit(i int, by string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Minute)
	if by != "" {
		w.said[i].at, w.said[i].isEdited = w.now, by != w.said[i].by
	}
	w.server.EditNote(w.said[i].id, by, w.said[i].body, w.now)
}

// press approves by the button.
func (w *world) press(by string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(30 * time.Second)
	w.server.AddNote(gitlabtest.Note{Author: 900, By: by, Body: "approved this merge request", System: true, At: w.now})
	w.pressed = append(slices.DeleteFunc(w.pressed, func(s saying) bool { return s.by == by }),
		saying{by: by, body: "/lgtm", at: w.now})
	w.showPressed()
}

// unpress takes all approvals by the button away.
func (w *world) unpress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pressed = nil
	w.showPressed()
}

func (w *world) showPressed() {
	var names []string
	for _, s := range w.pressed {
		names = append(names, s.by)
	}
	w.server.SetApprovers(names...)
}

func (w *world) filesOf(t testing.TB, head string) []*coverage.File {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.content[head].files(t)
}

func (w *world) before(t testing.TB) func(string) ([]*coverage.File, bool) {
	return func(head string) ([]*coverage.File, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		v, ok := w.content[head]
		return v.files(t), ok
	}
}

// forge returns the merge request for a job in the pipeline of a head.
func (w *world) forge(t testing.TB, head string) *forge.Forge {
	t.Helper()
	client, err := ci.New(ci.Options{API: "https://gitlab.test/api/v4", Token: ci.Token{Value: token},
		Settle: ci.DefaultSettle, Transport: memory{w.server}})
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return &forge.Forge{Client: client, MergeRequest: ci.MergeRequest{Project: gitlabtest.Project, IID: gitlabtest.IID},
		Tool: "prcheck", Pipeline: ci.Commit{Project: gitlabtest.Project, Pipeline: 1001 + slices.Index(w.heads, head),
			SHA: head}}
}

func (w *world) hasApproval() bool {
	return slices.Contains(w.server.Labels(), "bot/approved: medium")
}

// hasStatus reports whether a status says that the head is approved.
func (w *world) hasStatus() bool {
	of := 1000 + len(w.heads)
	return slices.ContainsFunc(w.server.Statuses(), func(s gitlabtest.Status) bool {
		return s.Pipeline == of && s.Name == "prcheck-owners" && s.State == "success"
	})
}

// isApproved says by plain means whether each place that differs was approved as it is.
func (w *world) isApproved() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	isHeld, isChanged := false, false
	for i := range owner {
		value := w.content[w.heads[len(w.heads)-1]][i]
		ok, hold, byAuthor := value == "0", false, false
		isChanged = isChanged || !ok
		for _, c := range w.words() {
			switch {
			case c.body == "/hold" && c.by == "zoe", c.body == "/hold cancel" && (c.by == "zoe" || c.by == owner[i]):
				byAuthor = c.body == "/hold"
			}
			switch {
			case c.by != owner[i]:
			case c.body == "/hold", c.body == "/hold cancel":
				hold = c.body == "/hold"
			case c.body == "/lgtm":
				ok = ok || w.readAt(c.at, i, value)
			}
		}
		if !ok {
			return false
		}
		isHeld = isHeld || (hold || byAuthor) && value != "0"
	}
	return isChanged && !isHeld
}

// readAt reports whether somebody who wrote at a time has surely read this value of a place.
func (w *world) readAt(at time.Time, place int, value string) bool {
	n := len(w.heads) - 1
	for n >= 0 && w.pushed[w.heads[n]].After(at) {
		n--
	}
	isSame := n >= 0 && w.content[w.heads[n]][place] == value
	if n > 0 && at.Sub(w.pushed[w.heads[n]]) < 10*time.Second {
		isSame = isSame && w.content[w.heads[n-1]][place] == value
	}
	return isSame
}

// words returns what counts of what was said, in the order of time.
func (w *world) words() []saying {
	out := slices.DeleteFunc(slices.Concat(w.said, w.pressed), func(s saying) bool {
		return s.isEdited && s.body != "/hold"
	})
	slices.SortStableFunc(out, func(a, b saying) int { return a.at.Compare(b.at) })
	return out
}
