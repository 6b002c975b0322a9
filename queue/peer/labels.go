package peer

import (
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/queue"
)

// An App is an application of base.
type App struct{ Onboarding, Parent string }

// Guess is what the peer guesses labels from.
type Guess struct {
	Apps          map[string]App
	ProjectLabels []string
	Paths         []string // that a change touches
}

// vague are folders that say nothing.
var vague = []string{"cicd", "saas", "rds", "services"}

// Labels returns the labels that the peer gives a change, sorted.
func (g Guess) Labels() []string {
	out := []string{}
	for _, p := range g.Paths {
		out = append(out, g.of(p)...)
	}
	if status := g.onboarding(); status != "" {
		out = append(out, status)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// of returns the labels of one path: of apps and of the project.
func (g Guess) of(file string) (out []string) {
	for _, folder := range strings.Split(path.Dir(file), "/") {
		if slices.Contains(vague, folder) || slices.Contains(queue.Classes, folder) ||
			slices.Contains(queue.HoldLabels, folder) {
			continue
		}
		if _, isApp := g.Apps[folder]; isApp && strings.Contains(file, "data/services/") {
			out = append(out, tenant+folder)
		}
		if slices.Contains(g.ProjectLabels, folder) {
			out = append(out, folder)
		}
	}
	return out
}

// onboarding returns the status that all apps of the paths have, "" if they differ.
func (g Guess) onboarding() string {
	parents := map[string]bool{}
	for _, a := range g.Apps {
		parents[a.Parent] = a.Parent != ""
	}
	var found []string
	for _, p := range g.Paths {
		parts := append(strings.Split(p, "/"), "", "", "", "")
		if !strings.Contains(p, "data/services/") {
			continue
		}
		app, isApp := g.Apps[parts[2]]
		if child, isChild := g.Apps[parts[3]]; parents[parts[2]] && isChild {
			app, isApp = child, true
		}
		if isApp && !slices.Contains(found, app.Onboarding) {
			found = append(found, app.Onboarding)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}

// TouchesMore reports whether a change touches a path that gave it no label: two changes of different labels may then
// meet there.
func (g Guess) TouchesMore() bool {
	return slices.ContainsFunc(g.Paths, func(p string) bool { return len(g.of(p)) == 0 })
}
