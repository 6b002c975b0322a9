package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// checkDefinitions refuses a head that defines no integration, since nothing would be
// checked then.
func checkDefinitions(in Input, base, head []integration.Definition) error {
	if len(head) > 0 {
		return nil
	}
	schema := in.Settings.DefinitionSchema()
	remedy := "if integrations are defined by datafiles of another schema, name it with definition_schema in prcheck.yaml"
	if len(base) > 0 {
		return fmt.Errorf("base defines integrations (%d) and head none (no datafile has the $schema %q), so nothing of "+
			"head can be checked%s; %s",
			len(base), schema, nearMisses(schema, in.Head), remedy)
	}
	return fmt.Errorf("neither base nor head defines an integration (no datafile has the $schema %q), so there is "+
		"nothing to check%s; %s",
		schema, nearMisses(schema, in.Base, in.Head), remedy)
}

// maxNearMisses bounds how many similar schemas are named, and maxNearEdits how different
// from the wanted schema they may be.
const (
	maxNearMisses = 3
	maxNearEdits  = 8
)

// nearMisses returns a part of a sentence that names the schemas of datafiles that are
// similar to a schema; "" when there are none.
func nearMisses(schema bundle.SchemaPath, bundles ...*bundle.Bundle) string {
	var known []string
	for _, b := range bundles {
		for _, f := range b.Datafiles() {
			known = append(known, string(f.Schema))
		}
	}
	slices.Sort(known)
	similar := suggest.Words(string(schema), slices.Compact(known), maxNearEdits)
	if len(similar) == 0 {
		return ""
	}
	similar = similar[:min(len(similar), maxNearMisses)]
	return fmt.Sprintf(" (there are datafiles of %s)", strings.Join(similar, ", "))
}
