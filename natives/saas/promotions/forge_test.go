package promotions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/services"
)

// A fakeForge is a forge in memory: commits are trees of files, and a merge conflicts if both
// sides changed a file.
type fakeForge struct {
	commits  map[string]fakeCommit
	heads    map[string]string
	requests []*services.MergeRequest
	notes    []string
	writes   []string // calls that write, in order
	race     func()   // what happens just before a branch is moved or deleted
	moved    int      // how many commits are refused, as if a file had changed
	fail     map[string]error
	// conflicting makes it say of all merge requests that they conflict.
	conflicting bool
	byLines     bool // changes of other lines do not conflict, as in git
	now         time.Time
}

type fakeCommit struct {
	parents []string
	files   map[string]string
	message string
}

var _ services.ForgeWriter = (*fakeForge)(nil)

func newForge(files map[string]string) *fakeForge {
	f := &fakeForge{commits: map[string]fakeCommit{}, heads: map[string]string{}, fail: map[string]error{}, now: begin}
	f.commit("main", files, "begin")
	return f
}

// commit puts a commit on a branch: all its files become these.
func (f *fakeForge) commit(branch string, files map[string]string, message string, parents ...string) string {
	if parents == nil && f.heads[branch] != "" {
		parents = []string{f.heads[branch]}
	}
	id := fmt.Sprintf("%040x", len(f.commits)+1)
	f.commits[id] = fakeCommit{parents, maps.Clone(files), message}
	f.heads[branch] = id
	return id
}

// edit lets a person commit one file to a branch.
func (f *fakeForge) edit(branch, path, text string) {
	files := maps.Clone(f.commits[f.heads[branch]].files)
	if files[path] = text; text == "" {
		delete(files, path)
	}
	f.commit(branch, files, "by hand")
}

// at returns the commit that a branch or a commit is.
func (f *fakeForge) at(ref string) (fakeCommit, string) {
	if id := f.heads[ref]; id != "" {
		ref = id
	}
	return f.commits[ref], ref
}

// ancestors returns a commit and all before it.
func (f *fakeForge) ancestors(id string) map[string]bool {
	out := map[string]bool{}
	for open := []string{id}; len(open) > 0; {
		id, open = open[0], open[1:]
		if !out[id] {
			out[id] = true
			open = append(open, f.commits[id].parents...)
		}
	}
	return out
}

// base returns the newest commit that two have in common.
func (f *fakeForge) base(a, b string) string {
	mine, out := f.ancestors(a), ""
	for id := range f.ancestors(b) {
		if mine[id] && id > out {
			out = id
		}
	}
	return out
}

// changed returns the files that differ.
func changed(a, b map[string]string) []string {
	all := map[string]bool{}
	for path := range a {
		all[path] = a[path] != b[path] || !has(b, path)
	}
	for path := range b {
		all[path] = a[path] != b[path] || !has(a, path)
	}
	maps.DeleteFunc(all, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(all))
}

func has(m map[string]string, key string) bool { _, ok := m[key]; return ok }

// conflicts reports whether a branch cannot be merged.
func (f *fakeForge) conflicts(branch string) bool {
	main, mainID := f.at("main")
	ours, id := f.at(branch)
	base := f.commits[f.base(mainID, id)]
	theirs := changed(base.files, main.files)
	return slices.ContainsFunc(changed(base.files, ours.files), func(path string) bool {
		if !slices.Contains(theirs, path) || ours.files[path] == main.files[path] {
			return false
		}
		_, clean := byLines(base.files[path], ours.files[path], main.files[path])
		return !f.byLines || !clean
	})
}

// byLines merges two texts that changed other lines of a base.
func byLines(base, ours, theirs string) (string, bool) {
	b, o, t := strings.SplitAfter(base, "\n"), strings.SplitAfter(ours, "\n"), strings.SplitAfter(theirs, "\n")
	if len(b) != len(o) || len(b) != len(t) {
		return "", false
	}
	for i := range b {
		switch {
		case o[i] == b[i]:
			o[i] = t[i]
		case t[i] != b[i] && t[i] != o[i]:
			return "", false
		}
	}
	return strings.Join(o, ""), true
}

// merge merges a merge request, if it can be.
func (f *fakeForge) merge(m *services.MergeRequest) bool {
	if m.State != services.MergeOpen || f.conflicts(m.Branch) {
		return false
	}
	main, mainID := f.at("main")
	ours, id := f.at(m.Branch)
	files := maps.Clone(main.files)
	for _, path := range changed(f.commits[f.base(mainID, id)].files, ours.files) {
		text, clean := byLines(f.commits[f.base(mainID, id)].files[path], ours.files[path], main.files[path])
		if files[path] = ours.files[path]; f.byLines && clean {
			files[path] = text
		}
		if !has(ours.files, path) {
			delete(files, path)
		}
	}
	f.commit("main", files, "merge", mainID, id)
	m.State, m.Merged = services.MergeDone, f.now
	delete(f.heads, m.Branch)
	return true
}

func (f *fakeForge) Branches(_ context.Context, prefix string) (map[string]string, error) {
	out := maps.Clone(f.heads)
	maps.DeleteFunc(out, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return out, f.fail["branches"]
}

func (f *fakeForge) File(_ context.Context, ref, path string) (services.ForgeFile, error) {
	c, id := f.at(ref)
	text, ok := c.files[path]
	if !ok {
		return services.ForgeFile{}, services.ErrNotThere
	}
	for { // the last commit that changed it
		before := ""
		for _, p := range f.commits[id].parents {
			if is, ok := f.commits[p].files[path]; ok && is == text {
				before = p
			}
		}
		if before == "" {
			return services.ForgeFile{Content: []byte(text), Version: id}, f.fail["file"]
		}
		id = before
	}
}

func (f *fakeForge) Ahead(_ context.Context, base, branch string) (services.Ahead, error) {
	_, from := f.at(base)
	to, id := f.at(branch)
	var out services.Ahead
	mine := f.ancestors(from)
	for _, c := range slices.Backward(slices.Sorted(maps.Keys(f.ancestors(id)))) {
		if !mine[c] {
			out.Commits = append(out.Commits, services.AheadCommit{ID: c, Parents: f.commits[c].parents,
				Message: f.commits[c].message})
		}
	}
	out.Paths = changed(f.commits[f.base(from, id)].files, to.files)
	return out, nil
}

// refresh returns a merge request as it is now.
func (f *fakeForge) refresh(m *services.MergeRequest) services.MergeRequest {
	if m.State == services.MergeOpen && f.heads[m.Branch] != "" {
		m.Conflicts = f.conflicting || f.conflicts(m.Branch)
		if m.Head != f.heads[m.Branch] {
			m.Head, m.Armed = f.heads[m.Branch], false
		}
	}
	return *m
}

func (f *fakeForge) MergeRequests(_ context.Context, prefix string) ([]services.MergeRequest, error) {
	var out []services.MergeRequest
	for _, m := range f.requests {
		if m.State == services.MergeOpen && strings.HasPrefix(m.Branch, prefix) {
			out = append(out, f.refresh(m))
		}
	}
	return out, nil
}

func (f *fakeForge) Past(_ context.Context, branch string) ([]services.MergeRequest, error) {
	var out []services.MergeRequest
	for _, m := range slices.Backward(f.requests) {
		if m.Branch == branch {
			out = append(out, f.refresh(m))
		}
	}
	return out, nil
}

func (f *fakeForge) Commit(ctx context.Context, c services.ForgeCommit) (string, error) {
	f.writes = append(f.writes, "commit")
	if f.moved > 0 {
		f.moved--
		return "", services.ErrMoved
	}
	if f.race != nil {
		f.race()
	}
	if f.heads[c.Branch] != c.Was {
		return "", services.ErrBranchMoved
	}
	start, id := f.at(c.Start)
	files := maps.Clone(start.files)
	for _, ch := range c.Changes {
		if is, err := f.File(ctx, c.Start, ch.Path); err != nil || is.Version != ch.Version {
			return "", services.ErrMoved
		}
		files[ch.Path] = string(ch.Content)
	}
	return f.commit(c.Branch, files, c.Message, id), nil
}

func (f *fakeForge) request(number int) *services.MergeRequest { return f.requests[number-1] }

func (f *fakeForge) Open(_ context.Context, text services.MergeText) (int, error) {
	f.writes = append(f.writes, "open")
	if slices.ContainsFunc(f.requests, func(m *services.MergeRequest) bool {
		return m.Branch == text.Branch && m.State == services.MergeOpen
	}) {
		return 0, errors.New("there is one")
	}
	f.requests = append(f.requests, &services.MergeRequest{Number: len(f.requests) + 1, Branch: text.Branch,
		Head: f.heads[text.Branch], State: services.MergeOpen,
		Title: text.Title, Description: text.Description, Labels: text.Labels, Opened: f.now})
	return len(f.requests), nil
}

func (f *fakeForge) Describe(_ context.Context, number int, text services.MergeText) error {
	f.writes = append(f.writes, "describe")
	f.request(number).Title, f.request(number).Description = text.Title, text.Description
	return nil
}

func (f *fakeForge) Note(_ context.Context, number int, body string) error {
	f.writes = append(f.writes, "note")
	f.notes = append(f.notes, fmt.Sprintf("!%d %s", number, body))
	return nil
}

func (f *fakeForge) Close(_ context.Context, number int) error {
	f.writes = append(f.writes, "close")
	f.request(number).State, f.request(number).ClosedByUs = services.MergeClosed, true
	return nil
}

func (f *fakeForge) Arm(_ context.Context, number int, head string) error {
	f.writes = append(f.writes, "arm")
	if f.request(number).Branch == "" || f.heads[f.request(number).Branch] != head {
		return errors.New("another head")
	}
	f.request(number).Armed = true
	return nil
}

func (f *fakeForge) DeleteBranch(_ context.Context, name, head string) error {
	f.writes = append(f.writes, "delete branch")
	if f.race != nil {
		f.race()
	}
	if f.heads[name] != "" && f.heads[name] != head {
		return services.ErrBranchMoved
	}
	delete(f.heads, name)
	for _, m := range f.requests {
		if m.Branch == name && m.State == services.MergeOpen {
			m.State = services.MergeClosed
		}
	}
	return nil
}
