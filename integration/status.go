package integration

import (
	"context"
	"time"
)

// A StatusReader is a native integration that can say how each of its things stands. It only reads.
type StatusReader interface {
	Status(ctx context.Context, env Environment) ([]Status, error)
}

// A Status is how one thing stands.
type Status struct {
	Key   string `json:"key"`
	Kind  string `json:"kind,omitempty"` // of the thing, in a word of the integration
	Shard string `json:"shard,omitempty"`
	File  string `json:"file,omitempty"` // path of the datafile that asks for it
	// Desired is the digest of what the data say, and Observed of what was applied last; "" if
	// nothing was.
	Desired  string `json:"desired,omitempty"`
	Observed string `json:"observed,omitempty"`
	// Seen is a hash of the thing as it was when the parts of its status were read that are read
	// for themselves; "" if it has none.
	Seen       string   `json:"seen,omitempty"`
	Conditions []Aspect `json:"conditions"` // in the order of the integration
}

// An Aspect is one condition of a thing.
type Aspect struct {
	Type    string    `json:"type"`   // such as Ready
	Status  Truth     `json:"status"` // whether it holds
	Reason  string    `json:"reason"` // one word for programs
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"` // since when Status is as it is; zero if nobody knows
}

// A Truth says whether a condition holds.
type Truth string

// The truths.
const (
	True    Truth = "True"
	False   Truth = "False"
	Unknown Truth = "Unknown"
)
