package validate

import (
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// The codes of the mistakes of a body, beside those of package reconcile. They are a contract
// with programs.
const (
	CodeUnknown       reconcile.Code = "VAL_UNKNOWN"       // the type has no such property
	CodeRequired      reconcile.Code = "VAL_REQUIRED"      // a property is missing
	CodeEnum          reconcile.Code = "VAL_ENUM"          // a value is none of those that are allowed
	CodePattern       reconcile.Code = "VAL_PATTERN"       // a text has not the form that it must have
	CodeRange         reconcile.Code = "VAL_RANGE"         // a number, or the length of a text or list, is too small or too large
	CodeDiscriminator reconcile.Code = "VAL_DISCRIMINATOR" // no variant has this name
	CodeReadOnly      reconcile.Code = "RO_SET"            // the service fills the property in
	CodeSecret        reconcile.Code = "SECRET_INLINE"     // a secret stands in the data
	CodeIdentity      reconcile.Code = "IMMUTABLE_ID"      // a part of the identity is changed
	CodeBounds        reconcile.Code = "VAL_BOUNDS"        // the body is too deep, or has too many mistakes
	CodeTime          reconcile.Code = "VAL_TIME"          // there was no time to check all of the body
)

// TimeMessage is the message of the mistake that there was no time.
const TimeMessage = "there was no time to check all of it; make it smaller, or try again"

// A Finding is a mistake of a body, or something to know about it.
type Finding struct {
	Code     reconcile.Code
	Severity plan.Severity
	// Pointer is a JSON pointer to the property in the body. An item of a list with keys is
	// written as its keys, such as /disks/lun=0/size.
	Pointer string
	Pattern string // the same with * for the items of lists
	Exact   string // the same with the indexes of items
	// Value is the wrong value if it may be shown, nil if it may not or there is none.
	Value   any
	Message string // one sentence, without the pointer
	Old     bool   // it was there before, see [List]
}
