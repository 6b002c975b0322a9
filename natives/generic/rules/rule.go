package rules

import (
	"sync"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// How a property is known to be create-only.
const (
	Declared = "declared" // also by an override
	Inferred = "inferred"
)

// A Rule says what may be done with the value of a place.
type Rule struct {
	ReadOnly   bool   // the service fills it in, a request must not have it
	CreateOnly string // "", Declared or Inferred: it cannot be changed once the resource is there
	// JSON pointer of the truth value that makes it create-only while the resource has it, "" if none does
	FixedIf   string
	WriteOnly bool // GET does not answer it
	Secret    bool // no output shows it
	Masked    bool // its name looks like that of a secret: no output shows a text
	Volatile  bool // the service changes it by itself
	Ignore    bool // it is not compared, and sent as it is live
	Withheld  bool // somebody whose rules count as well hides it, see [Vouched] and [Withheld]

	// FreeToSet and FreeToUnset say that a create-only value may be given to a resource that has
	// none, or be taken away. Depth is how many steps the pattern of that value has: it may be
	// around this one.
	FreeToSet, FreeToUnset bool
	Depth                  int

	// Changed says that a write-only value is to be sent, since its version changed. Version
	// is the version of the value in the data, "" if it has none.
	Changed bool
	Version string

	List classes.ListKind // of a list; "" counts as atomic
	Keys []string         // of a list of the kind map
	// KeysInferred says that nothing declares the keys, so that two items may have the same ones.
	KeysInferred bool
	Exclusive    bool // of a list with keys or a set: items of others are removed
	Atomic       bool // of an object: it is one value
	Format       body.Format

	// Default is the value that a missing property has. Applies says that the service really
	// sets it, so that it counts in comparisons; else it only completes the keys of items.
	Default any
	Applies bool

	Discriminator string              // of an object: the member that chooses the variant
	Variants      map[string][]string // the members of each variant, nil if they are not known

	Ground string // why it has its class, in words
	Place  string // where that is said: file#pointer

	// Doubt says that the rule could not be found, and why. Nothing may be changed there.
	Doubt string
}

// Rules finds the rule of a pattern, with the classes that it inherits from what is around it.
type Rules interface {
	At(pattern string) Rule
}

// A bySpecific knows rules of single items.
type bySpecific interface {
	Rules
	find(pattern, path string) Rule
}

// Find returns the rule of a place, of which the pattern and the path are known.
func Find(r Rules, pattern, path string) Rule {
	var out Rule
	if s, ok := r.(bySpecific); ok {
		out = s.find(pattern, path)
	} else {
		out = r.At(pattern)
	}
	out.Masked = out.Masked || isOfSecretPair(path)
	return out
}

// IsSpecific reports whether the rule of an item may differ from that of the others.
func IsSpecific(r Rules) bool {
	_, is := r.(bySpecific)
	return is
}

// None has no rule for any place.
var None Rules = Table{}

// inherit adds to a rule the classes of the value around it.
func (r Rule) inherit(outer Rule) Rule {
	if outer.ReadOnly && !r.ReadOnly {
		r.ReadOnly, r.Ground, r.Place = true, outer.Ground, outer.Place
	}
	if outer.CreateOnly != "" && r.CreateOnly == "" {
		r.CreateOnly, r.Ground, r.Place = outer.CreateOnly, outer.Ground, outer.Place
		r.FreeToSet, r.FreeToUnset, r.Depth = outer.FreeToSet, outer.FreeToUnset, outer.Depth
	}
	if r.FixedIf == "" {
		r.FixedIf = outer.FixedIf
	}
	if outer.WriteOnly && !r.WriteOnly {
		r.WriteOnly, r.Changed, r.Version = true, outer.Changed, outer.Version
	}
	r.Secret = r.Secret || outer.Secret
	r.Volatile = r.Volatile || outer.Volatile
	r.Ignore = r.Ignore || outer.Ignore
	return r
}

// maxCached is how many rules are kept. Names of keys come from the data and have no end.
const maxCached = 50_000

// Cached returns rules that remember what they found, by pattern.
func Cached(r Rules) Rules { return &cached{from: r, lock: new(sync.Mutex), known: map[string]Rule{}} }

type cached struct {
	from  Rules
	lock  *sync.Mutex
	known map[string]Rule
}

func (c *cached) At(pattern string) Rule {
	c.lock.Lock()
	defer c.lock.Unlock()
	if r, ok := c.known[pattern]; ok {
		return r
	}
	r := c.from.At(pattern)
	if len(c.known) >= maxCached {
		clear(c.known)
	}
	c.known[pattern] = r
	return r
}
