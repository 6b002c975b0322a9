package plan

// Flips are the changes that would have decided otherwise about an integration: would have
// skipped what runs, or run what is skipped. Each of them was tried: the plan was made again
// with it.
type Flips struct {
	Known []Flip `json:"known"`
	Why   string `json:"why,omitempty"` // why nothing is known
}

// A Flip is a change, and what would have been decided with it.
type Flip struct {
	Kind    FlipKind     `json:"kind"`
	Changes []FlipChange `json:"changes"` // all of them together
	// Smallest tells that no part of the changes would have been enough.
	Smallest bool     `json:"smallest"`
	Decision Action   `json:"decision"`
	Rung     Rung     `json:"rung"`
	Code     Code     `json:"code"`
	Keys     []string `json:"keys,omitempty"` // the affected shards
}

// A FlipKind says what a [Flip] changes.
type FlipKind string

// The kinds of flips.
const (
	FlipTakeBack FlipKind = "take_back" // a part of the change is taken back: it stays as it is on base
	FlipEdit     FlipKind = "edit"      // head is changed further
	FlipRules    FlipKind = "rules"     // the definition, on base and head, or the settings say otherwise
)

// A FlipChange is a change of one file or setting.
type FlipChange struct {
	Part    FlipPart `json:"part"`
	Path    string   `json:"path,omitempty"`
	Schema  string   `json:"schema,omitempty"`  // of a datafile
	Field   string   `json:"field,omitempty"`   // a JSON pointer, or a key of the settings; "" for the file as a whole
	To      string   `json:"to,omitempty"`      // the other value, as JSON
	Removed bool     `json:"removed,omitempty"` // the file is taken out
	// Without are the values that are taken out of the list in the field.
	Without []string `json:"without,omitempty"`
}

// A FlipPart says where a [FlipChange] is.
type FlipPart string

// The parts that a flip changes.
const (
	PartDatafile FlipPart = "datafile"
	PartResource FlipPart = "resource"
	PartSchema   FlipPart = "schema" // a JSON schema file
	PartTypes    FlipPart = "types"  // all GraphQL types
	PartSettings FlipPart = "settings"
)
