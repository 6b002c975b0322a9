package reconcile

import (
	"slices"

	"github.com/app-sre/prcheck/plan"
)

// An Owner is a running instance of an integration.
type Owner struct {
	Integration string
	Version     string   // major version: what another one marked is not ours
	Caller      string   // the key of this instance
	Callers     []string // of all instances; nil if they are not known
	From        string   // another integration whose things are taken over, "" for none
	TakeOver    bool     // things that another version of the integration made are taken over
}

// A Mark on a thing says who owns it. The zero value is no mark.
type Mark struct {
	Integration string `json:"integration,omitempty"`
	Version     string `json:"version,omitempty"`
	Caller      string `json:"caller,omitempty"`
}

// Mark returns the mark of the things that this owner makes.
func (o Owner) Mark() Mark {
	return Mark{Integration: o.Integration, Version: o.Version, Caller: o.Caller}
}

// Whose says to whom a thing belongs.
type Whose string

// The owners of things.
const (
	Us               Whose = "us"
	Nobody           Whose = "nobody"
	OtherCaller      Whose = "other caller"
	RetiredCaller    Whose = "retired caller"
	OtherIntegration Whose = "other integration"
	OtherVersion     Whose = "other version"
)

// A Verdict says whether a thing may be touched.
type Verdict struct {
	Owner Whose
	Act   bool             // it may be changed
	Mark  bool             // it gets our mark
	Code  plan.FindingCode // why it may not be touched although it is desired; "" if nobody needs to know
}

// A Wish is what the data say about a thing whose owner is judged.
type Wish struct {
	Known   bool // the state knows that we made it
	Desired bool // it should be there
	Claim   Claim
}

// Judge says whether a thing with this mark may be touched. A thing that was taken by a claim
// or from a retired caller must not be deleted in the same run.
func (o Owner) Judge(m Mark, w Wish) Verdict {
	switch {
	case m == (Mark{}) && w.Known:
		return Verdict{Owner: Us, Act: true, Mark: true}
	case m == (Mark{}):
		return Verdict{Owner: Nobody}.claimed(w, Adopt, CodeNotAdopted)
	case o.From != "" && m.Integration == o.From && w.Desired:
		return Verdict{Owner: OtherIntegration, Act: true, Mark: true}
	case m.Integration != o.Integration:
		return Verdict{Owner: OtherIntegration}
	case m.Version != o.Version:
		return o.judgeVersion(m, w)
	case m.Caller == o.Caller:
		return Verdict{Owner: Us, Act: true}
	case o.Callers == nil || slices.Contains(o.Callers, m.Caller):
		return Verdict{Owner: OtherCaller}.claimed(w, TakeOver, CodeOwnedByOther)
	case w.Desired:
		return Verdict{Owner: RetiredCaller, Act: true, Mark: true}
	}
	return Verdict{Owner: RetiredCaller}
}

// judgeVersion judges a thing that another version of the integration made. It is taken if it is
// desired, the owner takes such things over, and no other living caller is named by the mark.
func (o Owner) judgeVersion(m Mark, w Wish) Verdict {
	v := Verdict{Owner: OtherVersion}
	isOthers := m.Caller != "" && m.Caller != o.Caller && (o.Callers == nil || slices.Contains(o.Callers, m.Caller))
	switch {
	case !w.Desired:
	case !o.TakeOver:
		v.Code = CodeNotAdopted
	case isOthers:
		v.Code = CodeOwnedByOther
	default:
		v.Act, v.Mark = true, true
	}
	return v
}

// claimed returns the verdict about a thing that is not ours: it may be touched if it is
// desired and claimed.
func (v Verdict) claimed(w Wish, by Claim, otherwise plan.FindingCode) Verdict {
	switch {
	case !w.Desired:
		return v
	case w.Claim == by, w.Claim == AdoptOrTakeOver:
		v.Act, v.Mark = true, true
	default:
		v.Code = otherwise
	}
	return v
}
