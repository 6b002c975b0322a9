package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// The codes of mistakes of entries.
const (
	codeSharding   plan.FindingCode = "SHARDING"   // the integration cannot be divided
	codeOverride   plan.FindingCode = "OVERRIDE"   // an override has no effect
	codeRender     plan.FindingCode = "RENDER"     // its objects cannot be made
	codeParameters plan.FindingCode = "PARAMETERS" // parameters of an environment cannot be used
	codeRef        plan.FindingCode = "REF"        // a ref cannot be resolved
	codeTemplate   plan.FindingCode = "TEMPLATE"   // the template of pods cannot be used
	codeCanary     plan.FindingCode = "CANARY"     // the settings name a shard that does not exist
	codeNamespace  plan.FindingCode = "NAMESPACE"  // a namespace cannot be told from another
	codeDelete     plan.FindingCode = "DELETE_UNNAMED"
)

// A mistake says what is wrong with an entry or a definition, and where.
type mistake struct {
	code    plan.FindingCode
	pointer string // from the root of the datafile
	message string
	warning bool
}

// finding returns the mistake as a finding about a datafile.
func (m mistake) finding(file string) plan.Finding {
	f := plan.Finding{Code: m.code, Severity: plan.SeverityError, Place: plan.Place{File: file, Pointer: m.pointer},
		Message: m.message}
	if m.warning {
		f.Severity = plan.SeverityWarning
	}
	return f
}

// mistakesIn returns the mistakes that an answer tells about entries of a list, by position. It
// returns false if an error is about anything else.
func mistakesIn(answer *integration.AnswerError, list string) (map[int]mistake, bool) {
	out := map[int]mistake{}
	for _, f := range answer.Errors {
		if len(f.Path) < 3 || f.Path[0] != list {
			return nil, false
		}
		at, isPosition := f.Path[1].(float64)
		if !isPosition || at < 0 || at != float64(int(at)) {
			return nil, false
		}
		if _, known := out[int(at)]; !known {
			m := mistake{code: reconcile.CodeType, pointer: pointerOf(f.Path[2:]), message: f.Message}
			if f.Path[len(f.Path)-1] == "sharding" { // the answer speaks of types of GraphQL
				m.message = "the strategy is not known; say static, per-aws-account, per-openshift-cluster or per-ocm-organization"
			}
			out[int(at)] = m
		}
	}
	return out, true
}

// pointerOf returns a path of an answer as a JSON pointer.
func pointerOf(path []any) string {
	out := ""
	for _, part := range path {
		switch part := part.(type) {
		case float64:
			out += "/" + strconv.Itoa(int(part))
		default:
			out += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(part))
		}
	}
	return out
}

// renderMistakes returns what rendering says about an entry, which stands at a pointer.
func renderMistakes(wrong []render.Mistake, at string) []mistake {
	var out []mistake
	for _, m := range wrong {
		out = append(out, mistake{code: codeRender, pointer: at + m.Pointer, message: m.Message, warning: m.Warning})
	}
	return out
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
