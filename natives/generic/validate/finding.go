package validate

import (
	"github.com/app-sre/prcheck/plan"
)

// The codes of the mistakes of a body, beside those of package reconcile. They are a contract
// with programs.
const (
	CodeUnknown  plan.FindingCode = "VAL_UNKNOWN"  // the type has no such property
	CodeRequired plan.FindingCode = "VAL_REQUIRED" // a property is missing
	CodeEnum     plan.FindingCode = "VAL_ENUM"     // a value is none of those that are allowed
	CodePattern  plan.FindingCode = "VAL_PATTERN"  // a text has not the form that it must have
	// a number, or the length of a text or list, is too small or too large
	CodeRange         plan.FindingCode = "VAL_RANGE"
	CodeDiscriminator plan.FindingCode = "VAL_DISCRIMINATOR" // no variant has this name
	CodeReadOnly      plan.FindingCode = "RO_SET"            // the service fills the property in
	CodeSecret        plan.FindingCode = "SECRET_INLINE"     // a secret stands in the data
	CodeIdentity      plan.FindingCode = "IMMUTABLE_ID"      // a part of the identity is changed
	CodeBounds        plan.FindingCode = "VAL_BOUNDS"        // the body is too deep, or has too many mistakes
	CodeTime          plan.FindingCode = "VAL_TIME"          // there was no time to check all of the body
)

// TimeMessage is the message of the mistake that there was no time.
const TimeMessage = "there was no time to check all of it; make it smaller, or try again"

// A Violation is a mistake of a body, or something to know about it.
type Violation struct {
	Code     plan.FindingCode
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
