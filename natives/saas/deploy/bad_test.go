package deploy

import (
	"flag"
	"strconv"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

var every = flag.Bool("every", false, "try every mistake in the data, not one of nine")

// placesOf returns the ways to all values of a datafile.
func placesOf(v any, way []any) [][]any {
	var out [][]any
	if len(way) > 0 {
		out = append(out, way)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "$schema" && name != "$ref" {
				out = append(out, placesOf(member, append(way[:len(way):len(way)], name))...)
			}
		}
	case []any:
		for i, item := range v {
			out = append(out, placesOf(item, append(way[:len(way):len(way)], i))...)
		}
	}
	return out
}

// Whatever value of the data is missing or of another kind: nothing breaks, and nothing that
// exists is deleted because of it.
func TestBadData(t *testing.T) {
	s := newScene(t)
	s.mustRun(t, "shop/stage")
	good := s.Clone()
	n := 0
	for _, file := range []string{saastest.File, saastest.Stage, saastest.StageEnv, saastest.Cluster, saastest.App,
		saastest.Settings} {
		for _, way := range placesOf(good.Data[file], nil) {
			for _, value := range []any{nil, 7, "x:/y", []any{}, map[string]any{"a": 1}} {
				if n++; !*every && n%9 > 0 {
					continue
				}
				s.World = good.Clone()
				if _, isIndex := way[len(way)-1].(int); isIndex && value == nil {
					continue
				}
				s.Set(file, value, way...)
				if _, err := s.native().(integration.Stater).DesiredState(t.Context(), s.Query(t),
					settingsOf(t, s.own)); err != nil {
					continue // it runs in full
				}
				name := file + " " + strconv.Itoa(n)
				_ = s.dryRun(t, "", good)
				for _, said := range s.said {
					isMoved := len(said) > 7 && said[:7] == "delete "
					if isMoved && !isWanted(way) {
						t.Errorf("%s: %v = %v: %s", name, way, value, said)
					}
				}
			}
		}
	}
}

// isWanted reports whether a change of the place may remove objects from where they are.
func isWanted(way []any) bool {
	for _, part := range way {
		switch part {
		case "delete", "managedResourceTypes", "targets", "resourceTemplates", "name", "path", "namespace":
			return true
		}
	}
	return false
}
