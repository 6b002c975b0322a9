package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// evidence holds that the facts of a decision are those of the bundles and the settings, so
// that nobody is shown a proof that is not one.
func (o dossier) evidence(context.Context) string {
	e := o.decision.Evidence
	if paths := o.definitionPaths(); len(e.Definition) > 0 && !slices.Equal(e.Definition, paths) {
		return fmt.Sprintf("its evidence says that it is defined in %s, but it is defined in %s",
			strings.Join(e.Definition, " and "), strings.Join(paths, " and "))
	}
	if e.Allowed != 0 && !o.allows(e.Allowed) {
		return fmt.Sprintf("its evidence says that it may read %d schemas, which is not what its definition says", e.Allowed)
	}
	if why := o.evidenceOfState(e.State); why != "" {
		return why
	}
	if path := o.unchanged(e.Paths); path != "" {
		return fmt.Sprintf("its evidence says that %q changed, which is the same on both sides", path)
	}
	return o.evidenceOfQueries(e.Queries)
}

// refuteChanges returns why the list of changed files is not that of the bundles; "" when it is.
func (c *prover) refuteChanges(listed plan.Changes) string {
	data, resources := map[string]bool{}, map[string]bool{}
	for _, f := range listed.Datafiles {
		if f.Kind != plan.Metadata {
			data[f.Path] = true
		}
	}
	for _, f := range listed.Resources {
		if f.Kind != plan.Metadata {
			resources[f.Path] = true
		}
	}
	for _, f := range c.changed.files {
		of := data
		if f.resource {
			of = resources
		}
		if !of[f.path] {
			return fmt.Sprintf("the plan does not list %q, which changed", f.path)
		}
		delete(of, f.path)
	}
	if same := slices.Sorted(maps.Keys(data)); len(same) > 0 {
		return fmt.Sprintf("the plan lists the datafile %q, which is the same on both sides", same[0])
	}
	for _, p := range slices.Sorted(maps.Keys(resources)) {
		if !slices.Contains(c.changed.backrefs, p) {
			return fmt.Sprintf("the plan lists the resource %q, which is the same on both sides", p)
		}
	}
	return ""
}

// allows tells whether the definition allows a number of schemas, if one that it names twice
// counts once or twice.
func (o dossier) allows(n int) bool {
	if o.use == nil {
		return false
	}
	named, _ := o.use.file["schemas"].(list)
	return n == len(o.use.schemas) || n == len(named)
}

// definitionPaths returns where the integration is defined, base before head.
func (o dossier) definitionPaths() []string {
	var out []string
	for _, d := range []*definition{o.subject.base, o.subject.head} {
		if d != nil && !slices.Contains(out, d.path) {
			out = append(out, d.path)
		}
	}
	return out
}

// unchanged returns the first path at which nothing changed; "" when there is none.
func (o dossier) unchanged(paths []string) string {
	changed := map[string]bool{}
	for _, f := range o.changed.files {
		changed[f.path] = true
	}
	for _, p := range slices.Concat(o.changed.backrefs, o.changed.types) {
		changed[p] = true
	}
	for _, p := range paths {
		if !changed[p] {
			return p
		}
	}
	return ""
}

// evidenceOfState holds that the digests of the desired states say what the replay found.
func (o dossier) evidenceOfState(s *plan.State) string {
	switch {
	case s == nil:
	case o.need.action == plan.Skip && o.need.reason.Code == plan.CodeSameState && s.Base != s.Head:
		return "its evidence says that its desired states differ, but they are the same"
	case (o.need.reason.Code == plan.CodeStateDiffers || o.need.reason.Code == plan.CodeShardsDiffer) && s.Base == s.Head:
		return "its evidence says that its desired states are the same, but they differ"
	}
	return ""
}

// evidenceOfQueries holds that the queries of the evidence are those that the settings declare.
func (o dossier) evidenceOfQueries(shown []plan.QueryDifference) string {
	if o.state == nil || o.state.native != nil {
		return ""
	}
	declared := map[string]string{}
	for _, q := range o.state.queries {
		sum := sha256.Sum256([]byte(q.request.Query))
		declared[q.name] = hex.EncodeToString(sum[:])
	}
	for _, q := range shown {
		switch sum, ok := declared[q.Name]; {
		case !ok:
			return fmt.Sprintf("its evidence names the query %q, which the settings do not declare for it", q.Name)
		case sum != q.SHA256:
			return fmt.Sprintf("its evidence names another text of the query %q than the settings declare", q.Name)
		}
	}
	return ""
}
