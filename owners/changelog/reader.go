package changelog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/coverage"
	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/owners/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// The schemas whose files touch apps.
const (
	appSchema       = "/app-sre/app-1.yml"
	clusterSchema   = "/openshift/cluster-1.yml"
	namespaceSchema = "/openshift/namespace-1.yml"
	jenkinsSchema   = "/dependencies/jenkins-config-1.yml"
)

// ofApp are the schemas whose files name their app.
var ofApp = []string{"/app-sre/saas-file-2.yml", namespaceSchema, jenkinsSchema,
	"/dependencies/status-page-component-1.yml", "/app-sre/app-changelog-1.yml", "/app-sre/slo-document-1.yml",
	"/app-sre/scorecard-2.yml", "/app-sre/sre-checkpoint-1.yml"}

// A Reader reads changes with the apps, namespaces and change types of one bundle.
type Reader struct {
	newest    content.Bundles // the same on both sides
	apps      map[string]string
	byCluster map[string][]string // names of apps by the name of a cluster
	types     []*rules.Type
}

// NewReader returns a reader with the words of a bundle. Its error names the first change type that cannot be used.
func NewReader(newest *bundle.Bundle) (*Reader, error) {
	in := rules.Read(newest, "")
	in.Roles = nil // a log names nobody
	all, faults := rules.Compile(in)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	r := &Reader{newest: content.Bundles{Base: newest, Head: newest}, apps: map[string]string{},
		byCluster: map[string][]string{}}
	for _, t := range all.Types {
		if t.IsLogged {
			r.types = append(r.types, t)
		}
	}
	for _, f := range newest.BySchema(appSchema) {
		r.apps[string(f.Path)] = f.Object().String("name")
	}
	clusters := map[string]string{}
	for _, f := range newest.BySchema(clusterSchema) {
		clusters[string(f.Path)] = f.Object().String("name")
	}
	for _, f := range newest.BySchema(namespaceSchema) {
		of, _ := content.Plain(f.Object()).(map[string]any)
		cluster := clusters[text(of["cluster"], "$ref")]
		if app := r.appOf(of); cluster != "" && app != "" && !slices.Contains(r.byCluster[cluster], app) {
			r.byCluster[cluster] = append(r.byCluster[cluster], app)
		}
	}
	return r, nil
}

// Touched returns the names of the apps that a change touches, sorted, and those of the change types that allow a place
// of it, in the order in which they are met. An app that the newest bundle does not have is named by its path.
func (r *Reader) Touched(of content.Bundles) (apps, types []string, err error) {
	changes := inOrder(of.Changes())
	for _, c := range changes {
		for _, m := range c.Mentions {
			if at := r.mentioned(m); at != nil {
				changes = append(changes, at)
			}
		}
	}
	for _, c := range changes {
		apps = append(apps, r.appsOf(c)...)
		names, err := r.allowing(c)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		for _, name := range names {
			if !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	slices.Sort(apps)
	return slices.Compact(apps), types, nil
}

// inOrder returns changes in the order in which logs speak of them: files that both sides have, then those that came
// and went; those of one text stand together, what came first.
func inOrder(changes []*content.Change) []*content.Change {
	var out []*content.Change
	var sums []string
	bySum := map[string][]*content.Change{}
	for _, c := range changes {
		if (c.Old == nil) == (c.New == nil) {
			out = append(out, c)
			continue
		}
		sum := c.OldSum + c.NewSum // one of them is empty
		if bySum[sum] == nil {
			sums = append(sums, sum)
		}
		bySum[sum] = append(bySum[sum], c)
	}
	for _, sum := range sums {
		for _, isGone := range []bool{false, true} {
			for _, c := range bySum[sum] {
				if (c.New == nil) == isGone {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// mentioned returns the change of a datafile that mentions a changed resource: the value at the mention. It is nil for
// a file that the newest bundle does not have, and for one that does not name its app.
func (r *Reader) mentioned(m content.Mention) *content.Change {
	_, of := r.newest.Sides(m.Ref)
	if of == nil || m.Schema != namespaceSchema && m.Schema != jenkinsSchema {
		return nil
	}
	c := &content.Change{Ref: m.Ref, Old: of, New: of}
	path, err := jsonpath.Parse(m.Place)
	if err != nil {
		return c
	}
	places, err := path.Places(of)
	if err != nil {
		return c
	}
	for _, p := range places {
		c.Differences = append(c.Differences, difference.Difference{Kind: difference.Changed, Base: p.Place, Head: p.Place})
	}
	return c
}

// appsOf returns the names of the apps that a changed file touches.
func (r *Reader) appsOf(c *content.Change) (out []string) {
	for _, side := range []any{c.Old, c.New} {
		of, isObject := side.(map[string]any)
		switch {
		case !isObject || c.Kind != content.Datafile:
		case c.Schema == appSchema:
			out = append(out, text(of, "name"))
		case c.Schema == clusterSchema:
			out = append(out, r.byCluster[text(of, "name")]...)
		case slices.Contains(ofApp, c.Schema):
			out = append(out, r.appOf(of))
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

// appOf returns the name of the app that a file refers to, "" if it refers to none.
func (r *Reader) appOf(of map[string]any) string {
	path := text(of["app"], "$ref")
	if name := r.apps[path]; name != "" {
		return name
	}
	return path
}

// allowing returns the names of the change types that allow a place of a changed file. Comments, order and moves are no
// change of content here.
func (r *Reader) allowing(c *content.Change) (out []string, err error) {
	if c.MovedFrom != "" || c.MovedTo != "" {
		return nil, nil
	}
	for _, t := range r.types {
		f := coverage.By(c, []*rules.Context{{Type: t, Origin: t, File: c.Ref, Owned: c.Ref}})
		if f.Err != nil {
			return nil, f.Err
		}
		if slices.ContainsFunc(f.Places(), func(p *coverage.CoveredPlace) bool {
			return len(p.Covers) > 0 && p.Kind != difference.Text && p.Kind != difference.Reordered
		}) {
			out = append(out, t.Name)
		}
	}
	return out, nil
}

// text returns the text of a member, "" if there is none.
func text(of any, name string) string {
	o, _ := of.(map[string]any)
	s, _ := o[name].(string)
	return s
}

// Folders are the folders outside of a bundle that a log names like change types.
var Folders = []string{"docs", "hack"}

// InFolders returns which of the [Folders] changed files lie in, as far as the log tells folders apart: by the
// beginning of the path.
func InFolders(paths []string) (out []string) {
	for _, folder := range Folders {
		if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, folder) }) {
			out = append(out, folder)
		}
	}
	return out
}
