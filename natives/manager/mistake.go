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
)

// The codes of mistakes of entries.
const (
	codeSharding   reconcile.Code = "SHARDING"   // the integration cannot be divided
	codeOverride   reconcile.Code = "OVERRIDE"   // an override has no effect
	codeRender     reconcile.Code = "RENDER"     // its objects cannot be made
	codeParameters reconcile.Code = "PARAMETERS" // parameters of an environment cannot be used
	codeRef        reconcile.Code = "REF"        // a ref cannot be resolved
	codeTemplate   reconcile.Code = "TEMPLATE"   // the template of pods cannot be used
	codeCanary     reconcile.Code = "CANARY"     // the settings name a shard that does not exist
	codeNamespace  reconcile.Code = "NAMESPACE"  // a namespace cannot be told from another
	codeDelete     reconcile.Code = "DELETE_UNNAMED"
)

// A mistake says what is wrong with an entry or a definition, and where.
type mistake struct {
	code    reconcile.Code
	pointer string // from the root of the datafile
	message string
	warning bool
}

// finding returns the mistake as a finding about a datafile.
func (m mistake) finding(file string) reconcile.Finding {
	f := reconcile.Finding{Code: m.code, Severity: reconcile.Error, Place: reconcile.Place{File: file, Pointer: m.pointer}, Message: m.message}
	if m.warning {
		f.Severity = reconcile.Warning
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
