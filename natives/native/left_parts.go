package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
)

// A written part is one that a run wrote.
type written struct {
	Shard  string `json:"shard"`
	Caller string `json:"caller"`
	At     string `json:"at,omitempty"`
}

// A partsDocument names the parts that runs wrote, so that a part that leaves the data is still
// looked at.
type partsDocument struct {
	Version string             `json:"version"`
	Parts   map[string]written `json:"parts"` // by name
}

// partsKey is the key of the document.
const partsKey = "parts.json"

// partsKind are the documents. A damaged one is an error, as that of records.
var partsKind = state.Kind[partsDocument]{Version: recordsVersion}

// addLeft adds a unit for each part that a run wrote and that the data no longer have. In a
// change only parts of base and head count, and whoever adopts or takes over does nothing else.
func (w *work) addLeft(ctx context.Context) error {
	if a := w.env.Approve; w.head.Left == nil || w.env.Base != nil || w.env.State == nil || a.Adopt || a.TakeOver {
		return nil
	}
	doc, err := partsKind.Read(ctx, w.env.State, partsKey)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("reading the state: %s: %w", partsKey, err)
	}
	w.written = doc.Parts
	left := maps.Clone(doc.Parts)
	for _, p := range w.head.Parts {
		delete(left, p.name())
	}
	for _, was := range left {
		p := Part{Shard: was.Shard, Caller: was.Caller, At: was.At}
		if !w.isSelected(p) {
			continue
		}
		u := &unit{isLeft: true}
		if u.part, u.lost = w.head.Left(p); u.lost != nil {
			u.part = p
		}
		u.part.Shard, u.part.Caller, u.part.At = was.Shard, was.Caller, was.At
		u.part.Items, u.part.Skip = nil, ""
		w.units = append(w.units, u)
		u.isAsked = true
	}
	return nil
}

// setLeft completes the input of a part that is left. Somebody said that its things must go, if
// the data say so and are not empty.
func (w *work) setLeft(u *unit) {
	u.input.Prune = w.head.DeleteLeft
	u.input.Gate.MayEmpty = w.head.DeleteLeft && slices.ContainsFunc(w.head.Parts, func(p Part) bool {
		return slices.ContainsFunc(p.Items, func(it reconcile.Item) bool { return !it.Delete })
	})
}

// leaveAll lets a plan delete nothing and say nothing.
func leaveAll(p *reconcile.Plan) {
	p.Findings, p.Deletions.Keys, p.Refused = nil, nil, reconcile.Refusal{}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action.Writes() || s.Action == reconcile.Blocked {
			s.Action, s.Code, s.Reason = reconcile.None, codeLeft, "no part of the data stands for it any more"
		}
	}
}

// reportLeft tells the things of a part that the data no longer have.
func (w *work) reportLeft(u *unit) {
	f := reconcile.Finding{Finding: plan.Finding{Code: codeLeft, Severity: plan.SeverityWarning}}
	switch {
	case u.lost != nil:
		f.Keys = slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(u.begun, maps.Keys(u.input.Known)))))
		f.Message = fmt.Sprintf("the part left the data, and nobody can look at what was made for it: %v", u.lost)
	case u.plan == nil:
		return
	case w.head.DeleteLeft:
		f.Keys, f.Message = ownKeys(u), "the part left the data, and the data or the settings say that its things are deleted"
	default:
		f.Keys, f.Message = ownKeys(u), "the part left the data, and its things stay until the data or the settings say "+
			"that they are deleted"
	}
	if len(f.Keys) == 0 {
		return
	}
	f.Message = inPart(u.part, f.Message)
	w.find(f)
}

// ownKeys returns the keys of the things of a unit that are ours, sorted.
func ownKeys(u *unit) []reconcile.Key {
	var out []reconcile.Key
	for _, s := range u.plan.Steps {
		if s.Thing != nil && s.Owner == reconcile.Us {
			out = append(out, s.Key)
		}
	}
	return out
}

// rememberParts notes the parts that are about to be written, and forgets those that left the
// data and have nothing any more. It is called before anything is written.
func (w *work) rememberParts(ctx context.Context, s state.Store) error {
	if w.head.Left == nil || s == nil {
		return nil
	}
	begun, ended := map[string]written{}, map[string]bool{}
	for _, u := range w.units {
		name := u.part.name()
		_, known := w.written[name]
		switch {
		case u.plan == nil:
		case u.isLeft:
			ended[name] = w.isEmpty(u)
		case !known && (hasWork(u.plan) || u.plan.Deletions.Managed > 0):
			begun[name] = written{u.part.Shard, u.part.Caller, u.part.At}
		}
	}
	maps.DeleteFunc(ended, func(_ string, isEmpty bool) bool { return !isEmpty })
	if len(begun)+len(ended) == 0 {
		return nil
	}
	err := s.Update(ctx, partsKey, func(old []byte) ([]byte, error) {
		doc := &partsDocument{Version: recordsVersion}
		if old != nil {
			var err error
			if doc, err = partsKind.Decode(old); err != nil {
				return nil, err
			}
		}
		if doc.Parts == nil {
			doc.Parts = map[string]written{}
		}
		maps.Copy(doc.Parts, begun)
		maps.DeleteFunc(doc.Parts, func(name string, _ written) bool { return ended[name] })
		return json.Marshal(doc)
	})
	if err != nil {
		return fmt.Errorf("noting the parts in the state: %s: %w", partsKey, err)
	}
	return nil
}

// isEmpty reports whether nothing is left of a part that left the data.
func (w *work) isEmpty(u *unit) bool {
	in := u.input
	return w.env.Static == (plan.Fraction{}) && len(in.Known)+len(in.Unread)+len(in.Errors)+u.plan.Deletions.Managed == 0
}
