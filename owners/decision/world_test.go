package decision_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/decision"
	"github.com/app-sre/prcheck/owners/rules"
)

// A world is the input of a case: rules, files on both sides, and what people wrote.
type world struct {
	ChangeTypes []struct {
		Name              string
		Description       string
		Labels            json.RawMessage
		Priority          string
		ContextType       content.Kind
		ContextSchema     string
		Disabled          bool
		Restrictive       bool
		Inherit           []string
		ImplicitOwnership []struct{ Provider, JSONPathSelector string }
		Changes           []struct {
			Provider          string
			ChangeSchema      string
			JSONPathSelectors []string
			ChangeTypes       []string
			Context           *rules.ContextRule
		}
	} `json:"change_types"`
	Roles []struct {
		Name           string
		Users          []string
		Bots           []string
		Labels         map[string]string
		ExpirationDate string
		MemberSources  []json.RawMessage // people whom another system knows
		Description    string
		SelfService    []struct {
			ChangeType  string `json:"change_type"`
			Datafiles   []string
			Resources   []string
			Description string
		} `json:"self_service"`
	}
	Users     struct{ Base, Head map[string]string }
	Files     map[string]worldFile
	Resources map[string]worldFile
	Author    string
	Bots      []string
	Comments  []comment
}

// A worldFile is a file on both sides.
type worldFile struct {
	Schema         string
	Old, New, Same json.RawMessage
	TextDiffers    bool   `json:"text_differs"`
	OldSum         string `json:"old_sum"`
	NewSum         string `json:"new_sum"`
	Backrefs       []struct{ Path, Schema, JSONPath string }
}

func (f worldFile) sides(t *testing.T, kind content.Kind) (old, new any) {
	if f.Same != nil {
		f.Old, f.New = f.Same, f.Same
	}
	old, new = decoded(t, f.Old), decoded(t, f.New)
	if kind == content.Resource {
		old, new = ofText(old), ofText(new)
	}
	return old, new
}

func ofText(v any) any {
	if text, isText := v.(string); isText {
		return content.Text(text)
	}
	return v
}

// sides are the contents of all files of a world.
type sides map[content.Ref][2]any

func (s sides) Sides(r content.Ref) (base, head any) {
	of := s[content.Ref{Kind: r.Kind, Path: r.Path}]
	return of[0], of[1]
}

type fault = rules.Fault

// kinds are the kinds of faults by the names of the cases.
var kinds = map[string]rules.FaultKind{
	"TemplateSyntaxError":                     rules.BadTemplate,
	"ValueError":                              rules.BadVariable,
	"JsonPathLexerError":                      rules.BadSelector,
	"JsonPathParserError":                     rules.BadSelector,
	"Exception":                               rules.BadSelector,
	"KeyError":                                rules.BadReference,
	"ChangeTypeCycleError":                    rules.Circle,
	"ChangeTypeIncompatibleInheritanceError":  rules.BadInheritance,
	"NoApproversInSelfServiceRoleError":       rules.NoPeople,
	"DatafileIncompatibleWithChangeTypeError": rules.WrongSchema,
	"EmptySelfServiceRoleError":               rules.NoPeople,
}

// input returns the rules of a world.
func (w world) input() rules.Input {
	in := rules.Input{Today: "2026-08-21", People: map[string]rules.Person{}}
	for path, name := range w.Users.Base {
		in.People[path] = rules.Person{Name: name}
	}
	schemas := map[string]string{}
	for _, t := range w.ChangeTypes {
		schemas[t.Name] = t.ContextSchema
		of := rules.ChangeType{Name: t.Name, Priority: t.Priority, ContextType: t.ContextType, ContextSchema: t.ContextSchema,
			Disabled: t.Disabled, Restrictive: t.Restrictive, Inherit: t.Inherit}
		for _, c := range t.Changes {
			of.Changes = append(of.Changes, rules.ChangeRule{Schema: c.ChangeSchema, Selectors: c.JSONPathSelectors,
				Types: c.ChangeTypes, Context: c.Context})
		}
		for _, i := range t.ImplicitOwnership {
			of.Implicit = append(of.Implicit, i.JSONPathSelector)
		}
		in.Types = append(in.Types, of)
	}
	for _, r := range w.Roles {
		of := rules.Role{Name: r.Name, Expires: r.ExpirationDate, HasBots: len(r.Bots) > 0,
			Sources: make([]rules.MemberSource, len(r.MemberSources)),
			Labels:  rules.OwnerLabels(r.Labels["change-owners-labels"])}
		for _, name := range slices.Concat(r.Users, r.Bots) {
			if name != "" {
				of.People = append(of.People, rules.Person{Name: name})
			}
		}
		for _, s := range r.SelfService {
			bind := rules.Bind{Type: s.ChangeType, Resources: s.Resources}
			for _, path := range s.Datafiles {
				schema := schemas[s.ChangeType]
				if f, isThere := w.Files[path]; isThere {
					schema = f.Schema
				}
				bind.Datafiles = append(bind.Datafiles, content.Ref{Kind: content.Datafile, Path: path, Schema: schema})
			}
			of.Binds = append(of.Binds, bind)
		}
		in.Roles = append(in.Roles, of)
	}
	return in
}

// changes returns the files of a world that differ, and the content of all.
func (w world) changes(t *testing.T) ([]*content.Change, sides) {
	t.Helper()
	all := sides{}
	var out []*content.Change
	var sums []string
	for kind, files := range map[content.Kind]map[string]worldFile{content.Datafile: w.Files,
		content.Resource: w.Resources} {
		for _, path := range slices.Sorted(maps.Keys(files)) {
			f := files[path]
			old, new := f.sides(t, kind)
			all[content.Ref{Kind: kind, Path: path}] = [2]any{old, new}
			c := &content.Change{Ref: content.Ref{Kind: kind, Path: path, Schema: f.Schema}, Old: old, New: new}
			for _, b := range f.Backrefs {
				at := content.Ref{Kind: content.Datafile, Path: b.Path, Schema: b.Schema}
				c.Mentions = append(c.Mentions, content.Mention{Ref: at})
			}
			if c.Compare(f.TextDiffers || string(f.Old) != string(f.New)); len(c.Differences) > 0 {
				out = append(out, c)
				sums = append(sums, f.OldSum+f.NewSum)
			}
		}
	}
	content.Moves(out, sums)
	return out, all
}

// cover covers the files of a world that differ.
func (w world) cover(t *testing.T) ([]*coverage.File, []rules.Fault) {
	t.Helper()
	r, faults := rules.Compile(w.input())
	if len(faults) > 0 {
		return nil, faults
	}
	changes, all := w.changes(t)
	var files []*coverage.File
	for _, c := range changes {
		f := coverage.Of(r, c, all, func(path string) bool { return w.Users.Head[path] != "" })
		if f.Err != nil {
			t.Errorf("%s: %v", f.Path, f.Err)
		}
		files = append(files, f)
	}
	return files, nil
}

// words returns what people wrote in a world.
func (w world) words() decision.Input {
	return decision.Input{Author: w.Author, Bots: w.Bots, Words: decision.Words(comments(w.Comments))}
}
