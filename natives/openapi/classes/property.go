package classes

import (
	"github.com/app-sre/prcheck/natives/openapi"
)

// A Source says from where a class is known.
type Source string

// The sources.
const (
	Override Source = "override"
	Declared Source = "declared"
	ByFamily Source = "family"
	Inferred Source = "inferred"
)

// A Ground is why a property has a class.
type Ground struct {
	Source Source `json:"source"`
	Place  string `json:"place,omitempty"` // file#pointer, or the entry of an override file
	Text   string `json:"text"`
	// From is the path of the property around it from which the class is inherited.
	From string `json:"from,omitempty"`
	// FreeToSet and FreeToUnset say that a create-only value may still be given to a resource
	// that has none, or be taken away.
	FreeToSet   bool `json:"freeToSet,omitempty"`
	FreeToUnset bool `json:"freeToUnset,omitempty"`
	// Depth is how many steps the pattern has of the property that the class is about.
	Depth int `json:"-"`
}

// A ListKind says how two versions of a list are merged.
type ListKind string

// The kinds of lists.
const (
	Atomic ListKind = "atomic" // as one value
	Set    ListKind = "set"    // by value; the order does not count
	Map    ListKind = "map"    // by keys; the order does not count
)

// A List says how a list is merged.
type List struct {
	Kind   ListKind `json:"kind"`
	Keys   []string `json:"keys,omitempty"`
	Ground Ground   `json:"ground"`
	// Exclusive says that the list belongs to the data: items of others go.
	Exclusive bool `json:"exclusive,omitempty"`
}

// A Default is the value that a property has when nobody sets it.
type Default struct {
	Value *openapi.Value `json:"value"`
	// Applies says that the service really sets it, so that it can be left out of a
	// comparison. Only an override can say so.
	Applies bool   `json:"applies"`
	Ground  Ground `json:"ground"`
}

// A Format says how two texts are compared.
type Format struct {
	Name   string `json:"name"`
	Ground Ground `json:"ground"`
}

// A Property is what is known of a property of a resource type.
type Property struct {
	Path    string `json:"path"`    // such as properties.rules[].action; "" is the whole body
	Pattern string `json:"pattern"` // the same as a JSON pointer, with * for an item or a key
	Type    string `json:"valueType,omitempty"`

	ReadOnly   *Ground `json:"readOnly,omitempty"`
	CreateOnly *Ground `json:"createOnly,omitempty"`
	Mutable    *Ground `json:"mutable,omitempty"` // of an override or the family
	// FixedIf is the JSON pointer of the truth value of the resource that makes it create-only, "" if there is none.
	FixedIf   string  `json:"fixedIf,omitempty"`
	WriteOnly *Ground `json:"writeOnly,omitempty"`
	Secret    *Ground `json:"secret,omitempty"`
	Volatile  *Ground `json:"volatile,omitempty"`
	// Masked says that the name looks like that of a secret: the value is masked wherever it
	// would be shown. It is no class.
	Masked bool `json:"masked,omitempty"`
	// NullInPatch says that null is a value of it in what PATCH takes.
	NullInPatch bool `json:"-"`
	// IsValue says that the property stands for any value of a map.
	IsValue bool `json:"-"`

	List     *List             `json:"list,omitempty"`
	Atomic   *Ground           `json:"atomic,omitempty"` // of an object that is one value
	Default  *Default          `json:"default,omitempty"`
	Format   *Format           `json:"format,omitempty"`
	Enum     *openapi.Value    `json:"enum,omitempty"`
	Required bool              `json:"required,omitempty"`
	Variants *openapi.Variants `json:"variants,omitempty"`
	// Cyclic says that the property holds an object of a kind that it stands in.
	Cyclic      bool   `json:"cyclic,omitempty"`
	Description string `json:"description,omitempty"`

	Get, Put, Post, Patched Presence `json:"-"`
}

// A PatchRule says that PATCH may be used, although the specification does not prove it.
type PatchRule struct {
	Kind   string `json:"kind"`
	Ground Ground `json:"ground"`
}

// A Presence says whether a property occurs in a body.
type Presence string

// The presences.
const (
	NoBody  Presence = "none"    // there is no such operation
	Unknown Presence = "unknown" // the body takes any members, or is not described
	Present Presence = "yes"
	Missing Presence = "no"
)

// Class returns the word for what can be done with a property: readOnly, createOnly, or
// mutable.
func (p *Property) Class() string {
	switch {
	case p.ReadOnly != nil:
		return "readOnly"
	case p.CreateOnly != nil:
		return "createOnly"
	}
	return "mutable"
}
