package reconcile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// never compares items that must not be compared.
func never(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
	return reconcile.Difference{}, errors.New("this item must not be compared")
}

// differs says that every thing differs from its item.
func differs(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
	return reconcile.Difference{Changes: []reconcile.Change{{Path: "/"}}}, nil
}

// same says that every thing is as its item.
func same(reconcile.Item, reconcile.Thing, reconcile.Record) (reconcile.Difference, error) {
	return reconcile.Difference{}, nil
}

type ownershipCase struct {
	Input struct {
		Integration, Caller string
		Callers             []string
		TakeOver            bool            `json:"take_over"`
		Adopt               bool            `json:"adopt"`
		Desired             *bool           `json:"desired"`
		Marker              *reconcile.Mark `json:"marker"`
		InState             bool            `json:"in_state"`
		Taggable            *bool           `json:"taggable"`
		ParentMarker        *reconcile.Mark `json:"parent_marker"`
		Policy              reconcile.Policy
	}
	Expected struct {
		Owner string
		Act   bool
		Mark  bool
		Error plan.FindingCode
	}
}

func TestOwnership(t *testing.T) {
	shared.Each(t, "ownership", func(t *testing.T, c ownershipCase) {
		in := c.Input
		thing := reconcile.Thing{Key: "/p/it", Parent: "/p", Unmarkable: in.Taggable != nil && !*in.Taggable}
		if in.Marker != nil {
			thing.Mark = *in.Marker
		}
		current := []reconcile.Thing{thing}
		if in.ParentMarker != nil {
			current = append(current, reconcile.Thing{Key: "/p", Mark: *in.ParentMarker})
		}
		item := reconcile.Item{Key: "/p/it", Policy: in.Policy}
		switch {
		case in.TakeOver:
			item.Claim = reconcile.TakeOver
		case in.Adopt:
			item.Claim = reconcile.Adopt
		}
		known := map[reconcile.Key]reconcile.Record{}
		if in.InState {
			known["/p/it"] = reconcile.Record{}
		}
		desired := []reconcile.Item{item}
		if in.Desired != nil && !*in.Desired {
			desired = nil
		}
		p := reconcile.Make(reconcile.Input{
			Owner: reconcile.Owner{Integration: in.Integration, Caller: in.Caller, Callers: in.Callers},
			Class: reconcile.Blind, Desired: desired, Current: current, Known: known, Compare: differs,
			Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
		})
		s, planned := stepOf(p, "/p/it")
		if !planned {
			s.Action = reconcile.Skip
		}
		if got := s.Action == reconcile.Update; got != c.Expected.Act {
			t.Errorf("it acts: %t (%+v), want %t", got, s, c.Expected.Act)
		}
		if planned && string(s.Owner) != c.Expected.Owner {
			t.Errorf("the owner is %q, want %q", s.Owner, c.Expected.Owner)
		}
		if s.Code != c.Expected.Error {
			t.Errorf("code %q, want %q", s.Code, c.Expected.Error)
		}
	})
}

func stepOf(p *reconcile.Plan, k reconcile.Key) (reconcile.Step, bool) {
	for _, s := range p.Steps {
		if s.Key == k {
			return s, true
		}
	}
	return reconcile.Step{}, false
}

type gateCase struct {
	Input struct {
		Limits         struct{ Max, Percent, Floor int }
		Managed        int
		Deletes        json.RawMessage // a number or a list
		Replaces       int
		Asked, Desired *int
		ReadErrors     int `json:"read_errors"`
		Confirmed      string
		Approved       int
		Approvals      []struct{ Type, Name, Expiration string }
		Now            string
		OneOfThem      string `json:"one_of_them"`
		OtherErrors    int    `json:"other_shard_errors"` // of another gate, which this one does not know
		Protected      int    // how many of the deletions the data protect
		DryRun         bool   `json:"dry_run"`
	}
	Expected struct {
		Allowed, Refused json.RawMessage
		Code             plan.FindingCode
		WouldRefuse      json.RawMessage `json:"would_refuse"`
		Exit             int
		Error            string
	}
}

// approvalWords are the words of the cases for mistakes of approvals.
var approvalWords = map[string]plan.FindingCode{"VAL_PATTERN": reconcile.CodeApproval}

// checkPlan makes a plan with the deletions of a case, some of which are protected, and compares what it refuses.
func (c gateCase) checkPlan(t *testing.T, g reconcile.Gate) {
	in, want := c.Input, c.Expected
	input := reconcile.Input{Owner: reconcile.Owner{Integration: "i", Caller: "c", Callers: []string{"c"}},
		Class: reconcile.Listing, Compare: same, Gate: g}
	deletes := number(t, in.Deletes)
	for i := range in.Managed {
		key := reconcile.Key(fmt.Sprintf("T/x%d", i))
		if i == 0 && in.OneOfThem != "" {
			key = reconcile.Key(in.OneOfThem)
		}
		input.Desired = append(input.Desired, reconcile.Item{Key: key, Delete: i < deletes, Protected: i < in.Protected})
		input.Current = append(input.Current, reconcile.Thing{Key: key, Mark: input.Owner.Mark()})
	}
	p := reconcile.Make(input)
	removed := 0
	var codes []plan.FindingCode
	for _, s := range p.Steps {
		if s.Action == reconcile.Remove {
			removed++
		}
	}
	for _, f := range p.Findings {
		codes = append(codes, f.Code)
	}
	code := want.Code
	if want.Error != "" {
		if code = approvalWords[want.Error]; code == "" {
			t.Fatalf("the word %q is not known", want.Error)
		}
	}
	refused, isExit := want.Refused, true
	if in.DryRun {
		refused, isExit = want.WouldRefuse, want.Exit == 1
	}
	if !slices.Contains(codes, code) || p.Failed() != isExit {
		t.Errorf("got the findings %q, failed %v, want %q", codes, p.Failed(), code)
	}
	if refused != nil && deletes-removed != number(t, refused) ||
		want.Allowed != nil && removed != number(t, want.Allowed) {
		t.Errorf("%d of %d things are deleted, want %s refused", removed, deletes, refused)
	}
}

// number returns a number, or the length of a list.
func number(t *testing.T, raw json.RawMessage) int {
	t.Helper()
	var n int
	var list []any
	if json.Unmarshal(raw, &n) != nil && json.Unmarshal(raw, &list) != nil {
		t.Fatalf("%s is neither a number nor a list", raw)
	}
	return n + len(list)
}

func TestDeleteGate(t *testing.T) {
	shared.Each(t, "delete_gate", func(t *testing.T, c gateCase) {
		in := c.Input
		d := reconcile.Deletions{Managed: in.Managed, Desired: max(1, in.Managed), Incomplete: in.ReadErrors > 0}
		if in.Desired != nil {
			d.Desired = *in.Desired
		}
		for i := range number(t, in.Deletes) + in.Replaces {
			d.Keys = append(d.Keys, reconcile.Key(fmt.Sprintf("T/x%d", i)))
		}
		if in.OneOfThem != "" {
			d.Keys[0] = reconcile.Key(in.OneOfThem)
		}
		g := reconcile.Gate{Limits: reconcile.Limits{Max: in.Limits.Max, Percent: in.Limits.Percent, Floor: in.Limits.Floor}}
		g.Today, _ = time.Parse(time.DateOnly, in.Now)
		for i := range in.Approved {
			g.Approvals = append(g.Approvals, reconcile.Approval{Key: d.Keys[i], Until: in.Now})
		}
		for _, a := range in.Approvals {
			g.Approvals = append(g.Approvals, reconcile.Approval{Key: reconcile.Key(a.Type + "/" + a.Name), Until: a.Expiration})
		}
		switch in.Confirmed {
		case "same":
			g.Confirmed = d.Digest()
		case "other":
			g.Confirmed = reconcile.Deletions{Keys: d.Keys[1:]}.Digest()
		}
		if in.Protected > 0 || in.DryRun || c.Expected.Error != "" {
			c.checkPlan(t, g)
			return
		}
		got := g.Decide(d)
		if got.Code != c.Expected.Code || len(got.Keys) != number(t, c.Expected.Refused) ||
			len(d.Keys)-len(got.Keys) != number(t, c.Expected.Allowed) {
			t.Errorf("got %d refused with %q, want %s with %q", len(got.Keys), got.Code, c.Expected.Refused, c.Expected.Code)
		}
	})
}

type flowCase struct {
	Input struct {
		Delete        json.RawMessage
		Live          bool
		Owner         *string
		Policy        reconcile.Policy
		Prune         bool
		Removed       bool
		Protected     bool
		SoftDeleted   string `json:"soft_deleted"`
		OnSoftDeleted string `json:"on_soft_deleted"`
	}
	Expected struct {
		Action  reconcile.Action
		Error   plan.FindingCode
		Warning plan.FindingCode
		Then    string // what people may do, for people
	}
}

func TestDeleteFlow(t *testing.T) {
	shared.Each(t, "delete_flow", func(t *testing.T, c flowCase) {
		in := c.Input
		isDeleted, err := reconcile.ReadDelete(in.Delete)
		if err != nil {
			if c.Expected.Error != reconcile.CodeType {
				t.Errorf("got %v, want %q", err, c.Expected.Error)
			}
			return
		}
		me := reconcile.Owner{Integration: "generic", Caller: "a", Callers: []string{"a", "b"}}
		input := reconcile.Input{Owner: me, Class: reconcile.Knowing, Prune: in.Prune, Compare: never,
			Known:   map[reconcile.Key]reconcile.Record{},
			Gate:    reconcile.Gate{Limits: reconcile.DefaultLimits()},
			Desired: []reconcile.Item{{Key: "other", Policy: reconcile.Observe}}}
		policy := in.Policy
		if policy == "manage" {
			policy = reconcile.Manage
		}
		if in.Live || in.SoftDeleted != "" {
			thing := reconcile.Thing{Key: "it", SoftDeleted: in.SoftDeleted != "", Protected: in.Protected}
			if in.Owner != nil && *in.Owner == "us" {
				thing.Mark = me.Mark()
				input.Known["it"] = reconcile.Record{Policy: policy}
			}
			input.Current = []reconcile.Thing{thing}
		}
		if !in.Removed {
			input.Desired = append(input.Desired, reconcile.Item{Key: "it", Delete: isDeleted, Policy: policy,
				Recover: in.OnSoftDeleted == "recover"})
		}
		p := reconcile.Make(input)
		s, _ := stepOf(p, "it")
		if c.Expected.Action != "" && c.Expected.Error == "" && s.Action != c.Expected.Action {
			t.Errorf("the step is %+v, want %q", s, c.Expected.Action)
		}
		for severity, want := range map[plan.Severity]plan.FindingCode{plan.SeverityError: c.Expected.Error,
			plan.SeverityWarning: c.Expected.Warning} {
			got := plan.FindingCode("")
			for _, f := range p.Findings {
				if f.Severity == severity {
					got = f.Code
				}
			}
			if got != want {
				t.Errorf("the %s is %q, want %q", severity, got, want)
			}
		}
		if c.Expected.Error != "" && s.Action != reconcile.Blocked {
			t.Errorf("the step is %+v, want it to be blocked", s)
		}
	})
}

type orderCase struct {
	Input struct {
		Resources []struct {
			ID         reconcile.Key
			Refs       []reconcile.Key
			RefsBefore []reconcile.Key `json:"refs_before"`
			Delete     bool
		}
	}
	Expected struct {
		Apply, Delete [][]reconcile.Key
		Error         plan.FindingCode
		Cycle, IDs    []reconcile.Key
	}
}

func TestOrder(t *testing.T) {
	shared.Each(t, "order", func(t *testing.T, c orderCase) {
		me := reconcile.Owner{Integration: "generic", Caller: "a"}
		in := reconcile.Input{Owner: me, Class: reconcile.Blind, Compare: differs,
			Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()}, FoldCase: true}
		for _, r := range c.Input.Resources {
			item := reconcile.Item{Key: r.ID, Needs: r.Refs, Delete: r.Delete}
			parent := reconcile.Key("")
			for _, other := range c.Input.Resources {
				if strings.HasPrefix(string(r.ID), string(other.ID)+"/") && len(other.ID) > len(parent) {
					parent = other.ID
				}
			}
			if parent != "" {
				item.Needs = append(item.Needs, parent)
			}
			in.Desired = append(in.Desired, item)
			if r.Delete || len(r.RefsBefore) > 0 {
				in.Current = append(in.Current, reconcile.Thing{Key: r.ID, Mark: me.Mark(), Needs: r.RefsBefore, Parent: parent})
			}
		}
		p := reconcile.Make(in)
		if c.Expected.Error != "" {
			want := c.Expected.IDs
			if c.Expected.Cycle != nil {
				want = c.Expected.Cycle
			}
			if len(p.Findings) == 0 || p.Findings[0].Code != c.Expected.Error || !reflect.DeepEqual(p.Findings[0].Keys, want) {
				t.Errorf("got %+v, want %q of %q", p.Findings, c.Expected.Error, want)
			}
			return
		}
		var apply, remove [][]reconcile.Key
		for wave := 1; ; wave++ {
			var keys []reconcile.Key
			isRemoval := false
			for _, s := range p.Steps {
				if s.Wave == wave {
					keys, isRemoval = append(keys, s.Key), s.Action == reconcile.Remove
				}
			}
			if keys == nil {
				break
			}
			slices.Sort(keys)
			if isRemoval {
				remove = append(remove, keys)
			} else {
				apply = append(apply, keys)
			}
		}
		if !reflect.DeepEqual(apply, c.Expected.Apply) || !reflect.DeepEqual(remove, c.Expected.Delete) {
			t.Errorf("got %q then %q, want %q then %q", apply, remove, c.Expected.Apply, c.Expected.Delete)
		}
	})
}

type callerCase struct {
	Input struct {
		State         string
		CurrentCaller string `json:"current_caller"`
		Caller        string
		AllCallers    []string `json:"all_callers"`
		TakeOver      bool     `json:"take_over"`
	}
	Expected struct {
		Action          bool
		ErrorRegistered bool `json:"error_registered"`
	}
}

func TestCallerPattern(t *testing.T) {
	shared.Each(t, "caller_pattern", func(t *testing.T, c callerCase) {
		in := c.Input
		item := reconcile.Item{Key: "it"}
		if in.TakeOver {
			item.Claim = reconcile.TakeOver
		}
		compare := same
		if in.State == "modified" {
			compare = differs
		}
		p := reconcile.Make(reconcile.Input{
			Owner: reconcile.Owner{Integration: "saas-deploy", Caller: in.Caller, Callers: in.AllCallers},
			Class: reconcile.Listing, Desired: []reconcile.Item{item},
			Current: []reconcile.Thing{{Key: "it", Mark: reconcile.Mark{Integration: "saas-deploy", Caller: in.CurrentCaller}}},
			Compare: compare,
		})
		if s, _ := stepOf(p, "it"); s.Action.Writes() != c.Expected.Action || p.Failed() != c.Expected.ErrorRegistered {
			t.Errorf("the step is %+v, failed: %t, want %+v", s, p.Failed(), c.Expected)
		}
	})
}

type decisionCase struct {
	Input struct {
		Managed        bool    `json:"qontract_annotations"`
		CurrentCaller  *string `json:"current_caller"`
		Caller         *string
		TakeOver       bool `json:"take_over"`
		OwnerReference bool `json:"owner_reference"`
	}
	Expected bool
}

// The decisions of the reference about things that no entry names. Two of its rules do not
// hold here, see decision 45: an instance without a caller deletes what other callers made,
// and take_over deletes what nobody marked.
func TestDeleteDecision(t *testing.T) {
	shared.Each(t, "delete_decision", func(t *testing.T, c decisionCase) {
		in := c.Input
		if in.Caller == nil {
			t.Skip("every instance has a caller here, and take_over never deletes: see decision 45")
		}
		me := reconcile.Owner{Integration: "openshift-resources", Caller: *in.Caller, Callers: []string{"a", "b"}}
		thing := reconcile.Thing{Key: "it"}
		if in.Managed {
			thing.Mark = me.Mark()
			thing.Mark.Caller = *in.CurrentCaller
		}
		p := reconcile.Make(reconcile.Input{Owner: me, Class: reconcile.Listing, Compare: never,
			Desired: []reconcile.Item{{Key: "other", Policy: reconcile.Observe}},
			Current: []reconcile.Thing{thing}, Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()}})
		s, _ := stepOf(p, "it")
		if got := s.Action == reconcile.Remove; got != c.Expected {
			t.Errorf("the step is %+v, want a deletion: %t", s, c.Expected)
		}
	})
}

type deletePatternCase struct {
	Input    struct{ Delete json.RawMessage }
	Expected bool
}

func TestDeletePattern(t *testing.T) {
	shared.Each(t, "delete_pattern", func(t *testing.T, c deletePatternCase) {
		if got, err := reconcile.ReadDelete(c.Input.Delete); err != nil || got != c.Expected {
			t.Errorf("got %t, %v, want %t", got, err, c.Expected)
		}
	})
}

type poolCase struct {
	Input struct {
		Pool    int `json:"thread_pool_size"`
		Targets int
	}
	Expected int
}

func TestWrapperPool(t *testing.T) {
	shared.Each(t, "wrapper_pool", func(t *testing.T, c poolCase) {
		if got := reconcile.Workers(c.Input.Pool, c.Input.Targets); got != c.Expected {
			t.Errorf("got %d, want %d", got, c.Expected)
		}
	})
}
