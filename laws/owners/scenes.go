package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/owners/approvals"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
)

// holdDecided checks a scene that is made of a world: what base says of types that are restrictive or disabled, of
// files about which it is unknown who may approve, and of words that came right after a push.
func (w *world) holdDecided() error {
	a, b := fmt.Sprintf("p%d", w.IntN(3)), fmt.Sprintf("p%d", w.IntN(3))
	s := scene{author: a, people: [][]string{{a}, {b}}}
	return errors.Join(s.holdRestrictive(), s.holdAdmission(), s.holdPriority(), s.holdUnknown(), holdUnread(w.IntN(20)),
		holdMove())
}

// A scene is two files with an owner each, by one type.
type scene struct {
	author string
	people [][]string
	edit   func(*rules.ChangeType)
}

// cover covers a change of key a in both files, with a type for each selector.
func (s scene) cover(selectors ...string) ([]*coverage.File, error) {
	in := rules.Input{Today: "2026-01-01"}
	for n, selector := range selectors {
		t := rules.ChangeType{Name: fmt.Sprint("t", n), ContextSchema: "/s.yml",
			Changes: []rules.ChangeRule{{Selectors: []string{selector}}}}
		if s.edit != nil {
			s.edit(&t)
		}
		in.Types = append(in.Types, t)
		for i, people := range s.people {
			role := rules.Role{Name: fmt.Sprint("r", n, i),
				Binds: []rules.Bind{{Type: t.Name, Datafiles: []content.Ref{fileOf(i)}}}}
			for _, p := range people {
				role.People = append(role.People, rules.Person{Name: p})
			}
			in.Roles = append(in.Roles, role)
		}
	}
	r, faults := rules.Compile(in)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	var files []*coverage.File
	for i := range s.people {
		c := &content.Change{Ref: fileOf(i), Old: map[string]any{"a": "1", "l": []any{"x"}},
			New: map[string]any{"a": "2", "l": []any{"x"}}}
		c.Compare(false)
		files = append(files, coverage.Of(r, c, nil, nil))
	}
	return files, nil
}

func fileOf(i int) content.Ref {
	return content.Ref{Kind: content.Datafile, Path: fmt.Sprintf("/f%d.yml", i), Schema: "/s.yml"}
}

// holdRestrictive: the author's own word never counts for a restrictive type.
func (s scene) holdRestrictive() error {
	s.edit = func(t *rules.ChangeType) { t.Restrictive = true }
	files, err := s.cover("a")
	if err != nil {
		return err
	}
	said := decision.Words([]decision.Comment{{By: s.author, Body: "/lgtm"}})
	if decision.Decide(files[:1], decision.Input{Author: s.author, Words: said}).IsApproved {
		return errors.New("decided: the author approves by a restrictive type")
	}
	return nil
}

// holdAdmission: a restrictive type admits the author only at the places that are theirs.
func (s scene) holdAdmission() error {
	s.edit = func(t *rules.ChangeType) { t.Restrictive = true }
	files, err := s.cover("a")
	if err != nil {
		return err
	}
	want := s.people[1][0] == s.author
	for range 2 {
		if got := decision.Decide(files, decision.Input{Author: s.author}).IsAdmitted; got != want {
			return fmt.Errorf("decided: admitted %v, want %v", got, want)
		}
		files[0], files[1] = files[1], files[0]
	}
	return nil
}

// holdPriority: a disabled type covers nothing, and has no say where another one covers something.
func (s scene) holdPriority() error {
	in := rules.Input{Types: []rules.ChangeType{
		{Name: "used", Priority: "high", ContextSchema: "/s.yml", Changes: []rules.ChangeRule{{Selectors: []string{"a"}}}},
		{Name: "disabled", Priority: "low", ContextSchema: "/s.yml", Disabled: true,
			Changes: []rules.ChangeRule{{Selectors: []string{"a", "b"}}}},
		{Name: "elsewhere", Priority: "medium", ContextSchema: "/s.yml",
			Changes: []rules.ChangeRule{{Selectors: []string{"c"}}}},
	}, Today: "2026-01-01"}
	for _, t := range in.Types {
		in.Roles = append(in.Roles, rules.Role{Name: t.Name, People: []rules.Person{{Name: s.author}},
			Binds: []rules.Bind{{Type: t.Name}}})
	}
	r, faults := rules.Compile(in)
	if len(faults) > 0 {
		return faults[0]
	}
	c := &content.Change{Ref: fileOf(0), Old: map[string]any{"a": "1", "b": "1"}, New: map[string]any{"a": "2", "b": "1"}}
	c.Compare(false)
	if got := decision.Decide([]*coverage.File{coverage.Of(r, c, nil, nil)}, decision.Input{}).Priority; got != "high" {
		return fmt.Errorf("decided: the priority is %s, want high", got)
	}
	c.New.(map[string]any)["b"] = "2"
	c.Compare(false)
	if decision.Decide([]*coverage.File{coverage.Of(r, c, nil, nil)}, decision.Input{}).IsCovered {
		return errors.New("decided: a disabled type covers a place")
	}
	return nil
}

// holdUnknown: a selector that cannot be asked makes the file unknown, and unknown is never approved.
func (s scene) holdUnknown() error {
	files, err := s.cover("a", "l[?(@<1.5)]")
	if err != nil {
		return err
	}
	if files[0].Err == nil {
		return errors.New("decided: a selector that cannot be asked is no error")
	}
	said := decision.Words([]decision.Comment{{By: s.people[0][0], Body: "/lgtm"}})
	d := decision.Decide(files[:1], decision.Input{Words: said})
	if d.IsApproved || d.IsCovered || d.Places[0].IsApproved {
		return errors.New("decided: a file about which it is unknown who may approve is approved")
	}
	return nil
}

// holdUnread: a word that comes right after a push is not surely about it, unless it names the commit.
func holdUnread(seconds int) error {
	versions := []approvals.Version{{Head: "1a2b3c4d", PushedAt: time.Unix(0, 0)},
		{Head: "5e6f7a8b", PushedAt: time.Unix(100, 0)}}
	word := decision.Word{By: "p", Command: decision.Approve, At: time.Unix(100+int64(seconds), 0)}
	v, isSure, ok := approvals.About(word, versions)
	if !ok || v.Head != "5e6f7a8b" || isSure != (seconds >= 10) {
		return fmt.Errorf("decided: a word %d seconds after a push is sure: %v", seconds, isSure)
	}
	word.Commit = "1a2b3c4"
	if v, isSure, ok = approvals.About(word, versions); !ok || !isSure || v.Head != "1a2b3c4d" {
		return errors.New("decided: a word about a commit is about another one")
	}
	return nil
}

// holdMove: a file that moves is removed and added.
func holdMove() error {
	v := map[string]any{"a": "1"}
	gone := &content.Change{Ref: fileOf(0), Old: v}
	come := &content.Change{Ref: fileOf(1), New: v}
	gone.Compare(false)
	come.Compare(false)
	content.Moves([]*content.Change{gone, come}, []string{"s", "s"})
	if len(gone.Differences) != 1 || len(come.Differences) != 1 || come.Differences[0].Kind != difference.Added {
		return errors.New("decided: an end of a move is asked about by nobody")
	}
	if come.MovedFrom != gone.Path || gone.MovedTo != come.Path {
		return errors.New("decided: the ends of a move do not know each other")
	}
	return nil
}
