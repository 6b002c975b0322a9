package cloud

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// The codes of findings about outputs.
const (
	// CodeOutputPlace says that no resource of the type has a value at the place of an output.
	CodeOutputPlace plan.FindingCode = "OUTPUT_PLACE"
	// CodeOutput says that a value of the body is known only when another resource is there.
	CodeOutput plan.FindingCode = "OUTPUT"
)

// A Taken is a part of the body that is not known before other resources are there: one value, or a list that has such
// values in it. It is left out of the body.
type Taken struct {
	At string // JSON pointer in the body
	Of []*Output

	value any // with an *Output in the place of each value
}

// An Output is a value that the service gives a resource.
type Output struct {
	Of *Resource
	At string // JSON pointer in what the service answers
	// By is the last part of the address whose POST answers the value, "" if the resource has it.
	By       string
	IsSecret bool
}

// String describes an output, for the digest of an entry.
func (o *Output) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s%s %s", o.Of.Key, o.At, o.By))
}

// Fill returns the part of the body with the values of its outputs; false if one of them is not known.
func (t Taken) Fill(value func(*Output) (any, bool)) (any, bool) { return fillOutputs(t.value, value) }

func fillOutputs(v any, value func(*Output) (any, bool)) (any, bool) {
	switch v := v.(type) {
	case *Output:
		return value(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			filled, isKnown := fillOutputs(item, value)
			if !isKnown {
				return nil, false
			}
			out[name] = filled
		}
		return out, true
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			filled, isKnown := fillOutputs(item, value)
			if !isKnown {
				return nil, false
			}
			out[i] = filled
		}
		return out, true
	}
	return v, true
}

// A Stored is a value that the service gives a resource, and that goes into the store of secrets.
type Stored struct {
	At string // JSON pointer in what the service answers
	To integration.SecretRef
}

// output returns the output that an object of the body stands for, nil if it stands for none.
func (x *resolver) output(r *Resource, object map[string]any, at string) *Output {
	says, isOutput := object["$output"].(map[string]any)
	if !isOutput || len(object) != 1 {
		return nil
	}
	fail := func(code plan.FindingCode, format string, args ...any) *Output {
		r.fail(code, "/body"+at, fmt.Sprintf(format, args...))
		return &Output{}
	}
	for _, name := range sortedKeys(says) {
		if _, isText := says[name].(string); !isText || !slices.Contains([]string{"of", "at", "by"}, name) {
			return fail(codeType, "an output has the texts of, at and by; %.80q is none of them, or no text", name)
		}
	}
	file, _ := says["of"].(string)
	out := &Output{}
	out.At, _ = says["at"].(string)
	out.By, _ = says["by"].(string)
	out.Of = x.byFile[file]
	switch {
	case out.Of == nil || out.Of.Key == "":
		out.Of = nil
		return fail(CodeRequired, "it takes a value of %.200q, which is no usable entry of /cloud/resource-1.yml", file)
	case rules.CheckPlace(out.At) != nil:
		return fail(CodePattern, "%s", rules.CheckPlace(out.At))
	case out.By != "" && !slices.Contains(out.Of.API.ReadActions, out.By):
		return fail(CodeOutputPlace, "the readActions of the API %s do not name %.80q", out.Of.API.File, out.By)
	}
	if why := out.Of.lacks(out); why != "" {
		return fail(CodeOutputPlace, "%s", why)
	}
	return out
}

// lacks returns why no resource of the type has the value of an output, and notes whether it is a secret.
func (r *Resource) lacks(o *Output) string {
	if o.By != "" {
		o.IsSecret = true // nobody describes what an action answers
		return ""
	}
	of, err := r.API.specs.Rules(r.Of)
	if err != nil {
		return ""
	}
	pattern := ""
	for _, part := range jsonpointer.Split(o.At) {
		if _, err := strconv.Atoi(part); err == nil && rules.Lacks(of, jsonpointer.Append(pattern, part)) {
			part = "*"
		}
		pattern = jsonpointer.Append(pattern, part)
	}
	if rules.Lacks(of, pattern) {
		return fmt.Sprintf("%s has no property at %.200q", r.TypeID(), o.At)
	}
	rule := rules.Find(of, pattern, pattern)
	if rule.WriteOnly {
		return fmt.Sprintf("the service never answers %.200q of %s", o.At, r.TypeID())
	}
	o.IsSecret = rule.Secret || rule.Masked
	return ""
}

// readOutputs reads which values go into the store of secrets.
func (r *Resource) readOutputs(rows []outputRow) {
	for i, row := range rows {
		at := fmt.Sprintf("/outputs/%d", i)
		ref, isWhole := row.To.ref()
		switch {
		case !isWhole || ref.Version != "":
			r.fail(CodeRequired, at+"/to", "an output goes to a path and a field of the store of secrets, without a version")
		case rules.CheckPlace(row.At) != nil:
			r.fail(CodePattern, at+"/at", rules.CheckPlace(row.At).Error())
		}
		r.Outputs = append(r.Outputs, Stored{row.At, ref})
	}
}

// checkOutputs notes the outputs for the store of secrets that no resource of the type has.
func (r *Resource) checkOutputs() {
	for i, out := range r.Outputs {
		if why := r.lacks(&Output{At: out.At}); why != "" {
			r.fail(CodeOutputPlace, fmt.Sprintf("/outputs/%d/at", i), why)
		}
	}
}

// withhold returns a body without the parts that have outputs in them, and these parts. A list is withheld as a whole.
func withhold(v any, at string) (any, []Taken) {
	object, isObject := v.(map[string]any)
	if !isObject {
		return v, nil
	}
	var taken []Taken
	out := make(map[string]any, len(object))
	for _, name := range sortedKeys(object) {
		pointer, item := jsonpointer.Append(at, name), object[name]
		inner, isObject := item.(map[string]any)
		if isObject {
			kept, more := withhold(inner, pointer)
			out[name], taken = kept, append(taken, more...)
			continue
		}
		if found := outputsIn(item); len(found) > 0 {
			taken = append(taken, Taken{At: pointer, Of: found, value: item})
			continue
		}
		out[name] = item
	}
	return out, taken
}

// outputsIn returns the outputs in a value.
func outputsIn(v any) (out []*Output) {
	switch v := v.(type) {
	case *Output:
		out = append(out, v)
	case []any:
		for _, item := range v {
			out = append(out, outputsIn(item)...)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			out = append(out, outputsIn(v[name])...)
		}
	}
	return out
}

// Unknown returns the places of the body that are not known before other resources are there.
func (r *Resource) Unknown() []string {
	var out []string
	for _, t := range r.Taken {
		out = append(out, t.At)
	}
	return out
}

// TakenFrom describes what a resource takes of others, and what of it goes into the store of secrets.
func (r *Resource) TakenFrom() []string {
	var out []string
	for _, t := range r.Taken {
		for _, o := range t.Of {
			out = append(out, t.At+" "+o.String())
		}
		shape, _ := t.Fill(func(o *Output) (any, bool) { return o.String(), true })
		out = append(out, body.Canonical(shape))
	}
	for _, s := range r.Outputs {
		out = append(out, fmt.Sprintf("%s > %s %s", s.At, s.To.Path, s.To.Field))
	}
	return out
}

// findCircles notes the entries that take values of each other. Entries of other roots and APIs count as well, which no
// order of one run sees.
func (m *Model) findCircles() {
	const open, done = 1, 2
	states, chain := map[*Resource]int{}, []*Resource{}
	var visit func(r *Resource)
	visit = func(r *Resource) {
		states[r] = open
		chain = append(chain, r)
		for _, t := range r.Taken {
			for _, o := range t.Of {
				switch {
				case o.Of == nil:
				case states[o.Of] == 0:
					visit(o.Of)
				case states[o.Of] == open:
					failCircle(chain[slices.Index(chain, o.Of):])
				}
			}
		}
		chain = chain[:len(chain)-1]
		states[r] = done
	}
	for _, r := range m.Resources {
		if states[r] == 0 {
			visit(r)
		}
	}
}

// failCircle notes a circle at each of its members.
func failCircle(circle []*Resource) {
	const most = 5
	var files []string
	for _, r := range circle {
		files = append(files, r.File)
	}
	slices.Sort(files)
	message := "the entries take values of each other in a circle: " + strings.Join(files[:min(len(files), most)], ", ")
	if n := len(files) - most; n > 0 {
		message += fmt.Sprintf(" and %d more", n)
	}
	for _, r := range circle {
		r.fail(reconcile.CodeCycle, "/body"+r.Taken[0].At, message)
		r.Needs = slices.DeleteFunc(r.Needs, func(k reconcile.Key) bool { // it is told here, and not as an order again
			return slices.ContainsFunc(circle, func(other *Resource) bool { return other.Key == k })
		})
	}
}
