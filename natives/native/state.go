package native

import (
	"cmp"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A desiredState is what is compared to see whether anything is to do: all that a run uses of
// the data. The places of entries are not part of it, since they are for people alone.
//
// Its lists are sorted, because the comparison may ignore their order. The order of a list in a
// target or in a body may mean something, so these are texts.
type desiredState struct {
	Callers  any           `json:"callers"`
	Parts    []partState   `json:"parts"`
	Findings []findingText `json:"findings"`

	Approvals []approvalText `json:"approvals,omitempty"`
}

type partState struct {
	Shard  string      `json:"shard"`
	Caller string      `json:"caller"`
	At     string      `json:"at,omitempty"`
	Target string      `json:"target"` // JSON
	Skip   string      `json:"skip,omitempty"`
	Last   bool        `json:"last,omitempty"`
	Lease  string      `json:"lease,omitempty"`
	Clear  bool        `json:"clear,omitempty"`
	Items  []itemState `json:"items"`
}

type itemState struct {
	Key       reconcile.Key     `json:"key"`
	Body      string            `json:"body"` // JSON
	Needs     []reconcile.Key   `json:"needs,omitempty"`
	After     []reconcile.Key   `json:"after,omitempty"`
	Delete    bool              `json:"delete,omitempty"`
	Protected bool              `json:"protected,omitempty"`
	Recover   bool              `json:"recover,omitempty"`
	Policy    reconcile.Policy  `json:"policy,omitempty"`
	Claim     reconcile.Claim   `json:"claim,omitempty"`
	Mistake   reconcile.Mistake `json:"mistake,omitzero"`
}

type findingText struct {
	Code     plan.FindingCode `json:"code"`
	Severity plan.Severity    `json:"severity"`
	Message  string           `json:"message"`
}

type approvalText struct {
	Key   reconcile.Key `json:"key"`
	Until string        `json:"until"`
}

// DesiredState implements [integration.Stater].
func (m made) DesiredState(ctx context.Context, query integration.QueryFunc, it settings.Integration) (any, error) {
	d, err := m.Desired(ctx, query, it)
	if err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	out := desiredState{Callers: d.callers(), Parts: []partState{}}
	for _, p := range d.Parts {
		out.Parts = append(out.Parts, p.state())
	}
	slices.SortFunc(out.Parts, func(a, b partState) int {
		return cmp.Or(strings.Compare(a.Shard, b.Shard), strings.Compare(a.Caller, b.Caller), strings.Compare(a.At, b.At))
	})
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, findingText{f.Code, f.Severity, f.Message})
	}
	slices.SortFunc(out.Findings, func(a, b findingText) int { return strings.Compare(text(a), text(b)) })
	for _, a := range d.Approvals {
		out.Approvals = append(out.Approvals, approvalText{a.Key, a.Until})
	}
	slices.SortFunc(out.Approvals, func(a, b approvalText) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), strings.Compare(a.Until, b.Until))
	})
	return out, nil
}

// callers returns the callers, sorted. Callers that are not known are nil, which is not the same
// as none.
func (d Desired) callers() any {
	if d.Callers == nil {
		return nil
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(slices.Values(d.Callers))))
}

// checkComparable returns an error if JSON leaves out something of the part.
func (p Part) checkComparable() error {
	if err := checkComparable(p.Target); err != nil {
		return fmt.Errorf("the target of part %q: %w", p.Shard, err)
	}
	for _, it := range p.Items {
		if err := checkComparable(it.Body); err != nil {
			return fmt.Errorf("the body of %q: %w", it.Key, err)
		}
	}
	return nil
}

// state returns what a part contributes to the desired state.
func (p Part) state() partState {
	out := partState{Shard: p.Shard, Caller: p.Caller, At: p.At, Target: text(p.Target), Skip: p.Skip, Last: p.Last,
		Lease: p.Lease, Clear: p.Clear, Items: []itemState{}}
	for _, it := range p.Items {
		needs, after := slices.Sorted(slices.Values(it.Needs)), slices.Sorted(slices.Values(it.After))
		out.Items = append(out.Items, itemState{it.Key, text(it.Body), needs, after, it.Delete, it.Protected, it.Recover,
			it.Policy, it.Claim, it.Mistake})
	}
	slices.SortStableFunc(out.Items, func(a, b itemState) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// text returns a value as JSON, to compare it. Values of the data were checked, see
// [checkComparable].
func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "?" + err.Error()
	}
	return string(raw)
}

// checkComparable returns an error if a value cannot be written as JSON, or if JSON leaves out a
// part of it. Two bodies that differ there alone would count as the same, and a change would be
// skipped; two targets would, and a secret would go to another address.
func checkComparable(v any) error {
	if _, err := json.Marshal(v); err != nil {
		return err
	}
	return checkValue(reflect.ValueOf(v), 0)
}

// maxDepth is how deep values may be nested. JSON refuses values that hold themselves.
const maxDepth = 100

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func checkValue(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	if !v.IsValid() || v.Type().Implements(marshaler) || v.Type().Implements(textMarshaler) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return checkValue(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkValue(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := checkValue(v.MapIndex(k), depth+1); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkStruct(v, depth)
	}
	return nil
}

func checkStruct(v reflect.Value, depth int) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
			return fmt.Errorf("the field %s of %s is not a part of its JSON, so a difference there would not be seen", f.Name,
				v.Type())
		}
		if err := checkValue(v.Field(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}
