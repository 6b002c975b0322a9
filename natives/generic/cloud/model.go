package cloud

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/plain"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// The codes of findings that are made here.
const (
	CodeImmutableID plan.FindingCode = "IMMUTABLE_ID" // the entry names no address of its type
	CodeAcross      plan.FindingCode = "CROSS_SHARD"  // a reference to another root orders nothing
	CodeFamily      plan.FindingCode = "VAL_ENUM"     // a word that none of a list is
	CodeRequired    plan.FindingCode = "VAL_REQUIRED" // a value is missing
	CodePattern     plan.FindingCode = "VAL_PATTERN"  // a value has another form
)

// A Model is what the data say.
type Model struct {
	APIs      []*API      // sorted by file
	Resources []*Resource // sorted by file
	// Findings are what is wrong with APIs, and what people must know. A mistake of a resource
	// stands in the resource.
	Findings []plan.Finding
}

// An API is a service that a specification describes.
type API struct {
	File     string // path of the datafile
	Name     string
	Family   string
	Endpoint string // https URL
	Token    integration.SecretRef
	// Credentials are those instead of Token.
	Credentials []Credential
	Insecure    bool
	// Specifications are paths of bundle resources, and Overrides is one, "" for none.
	Specifications []string
	Overrides      string
	ReadActions    []string // last parts of addresses whose POST only reads

	Mistake Mistake // of the entry; the zero value is none

	specs *Specs
}

// Specs returns the specifications of an API, nil if it has a mistake.
func (a *API) Specs() *Specs { return a.specs }

// A Mistake is what is wrong with an entry. The zero value is no mistake.
type Mistake struct {
	Code    plan.FindingCode `json:"code,omitempty"`
	Pointer string           `json:"pointer,omitempty"` // JSON pointer in the datafile
	Message string           `json:"message,omitempty"`
}

// IsZero reports whether there is no mistake.
func (m Mistake) IsZero() bool { return m == Mistake{} }

// Adopt says what is done with a thing that exists and has no mark.
type Adopt string

// The ways to adopt. IfExists takes a thing that is there and makes one that is not; Required
// takes a thing and never makes one.
const (
	AdoptNever    Adopt = "never"
	AdoptIfExists Adopt = "if-exists"
	AdoptRequired Adopt = "required"
)

// A Secret is a value of the body that a store of secrets has.
type Secret struct {
	At     string                `json:"at"` // JSON pointer in the body
	Secret integration.SecretRef `json:"secret"`
}

// CodeSecretPlace says that a secret goes nowhere.
const CodeSecretPlace plan.FindingCode = "SECRET_PLACE"

// A Resource is a resource as the data want it.
type Resource struct {
	File       string
	API        *API
	Type       string // as the data have it, with the version if they name one
	Name       string
	Parent     string // as the data have it
	ResourceID string

	Policy        reconcile.Policy
	Adopt         Adopt
	Delete        bool
	Protected     bool
	AllowReplace  bool
	AllowUpdate   []string // paths
	Ignore        []string
	Exclusive     []string
	Secrets       []Secret
	Hooks         []string
	OnSoftDeleted string // stop, recover or purge

	// Body is what it should be: JSON with exact numbers. References are filled in.
	Body any

	// Taken are the parts of the body that are known when other resources are there; Body has none of them. Outputs are
	// the values that go into the store of secrets.
	Taken   []Taken
	Outputs []Stored

	// Of is the type, nil if it is not known. Then there is no Address and no Key.
	Of      *resources.Type
	Address family.Address
	// Key is the id in canonical form, "" if it is not known. Ids that are only unique at one
	// endpoint have the name of the API in front.
	Key    reconcile.Key
	Root   string            // the key of the shard
	Needs  []reconcile.Key   // entries of the same root that must exist before it, sorted
	Around reconcile.Key     // the nearest entry around it, "" if there is none
	Digest string            // of the specifications that its type reaches and of the overrides about it
	Across []reconcile.Key   // entries of other roots that it refers to
	Where  map[string]string // pointer in the datafile of each pointer in the body with a reference

	// Plain is the habits of a type of the family plain, nil for others. IsSought says that the service gives the id, and
	// the entry names the resource by its natural key: its address has the name in the place of the id.
	Plain    *plain.Habits
	IsSought bool

	Mistake Mistake

	bodyAt string // where the body stands, "" if it could not be read
}

// Place returns the place of the entry, or of its mistake.
func (r *Resource) Place() plan.Place {
	return plan.Place{File: r.File, Pointer: r.Mistake.Pointer}
}

// TypeID returns the type with its version, or as the data have it if it is not known.
func (r *Resource) TypeID() string {
	if r.Of == nil {
		return r.Type
	}
	return r.Of.ID()
}

// fail notes the first mistake of a resource.
func (r *Resource) fail(code plan.FindingCode, pointer, message string) {
	if r.Mistake.IsZero() {
		r.Mistake = Mistake{code, pointer, message}
	}
}

// ByKey returns the resources by their keys. Of those that have one key the first counts.
func (m *Model) ByKey() map[reconcile.Key]*Resource {
	out := make(map[reconcile.Key]*Resource, len(m.Resources))
	for _, r := range m.Resources {
		if _, known := out[r.Key]; r.Key != "" && !known {
			out[r.Key] = r
		}
	}
	return out
}

// Children returns, for each key, the keys of the entries that stand in it directly and must not
// go, sorted.
func (m *Model) Children() map[reconcile.Key][]reconcile.Key {
	out := map[reconcile.Key][]reconcile.Key{}
	for _, r := range m.Resources {
		if r.Around != "" && !r.Delete {
			out[r.Around] = append(out[r.Around], r.Key)
		}
	}
	for _, keys := range out {
		slices.Sort(keys)
	}
	return out
}

// Rules returns the rules of the type of a resource, with what the resource says about its own body.
func (r *Resource) Rules() (rules.Rules, error) {
	of, err := r.API.specs.Rules(r.Of)
	if err != nil {
		return nil, err
	}
	return rules.With(of, r.Overlay(of)), nil
}

// Overlay returns what a resource says about its own body, by the rules of its type.
func (r *Resource) Overlay(of rules.Rules) rules.Overlay {
	o := rules.Overlay{Ignore: r.Ignore, Exclusive: r.Exclusive}
	for _, s := range r.Secrets {
		for _, at := range s.places(of, r.Body) {
			o.Secrets = append(o.Secrets, rules.SecretPlace{At: at, Version: s.Secret.Version})
		}
	}
	for _, t := range r.Taken {
		if slices.ContainsFunc(t.Of, func(o *Output) bool { return o.IsSecret }) {
			o.Secrets = append(o.Secrets, rules.SecretPlace{At: t.At})
		}
	}
	return o
}

// places returns where a secret goes, with items by their keys. One that goes nowhere keeps its own words, so that it
// is secret all the same.
func (s Secret) places(of rules.Rules, body any) []string {
	out := []string{s.At}
	for _, at := range rules.Places(of, body, s.At) {
		if at.Name != s.At {
			out = append(out, at.Name)
		}
	}
	return out
}

// Fill returns a body of the resource with the values of its secrets. The value of a place is asked for once; without
// one the place is left as it is.
func (r *Resource) Fill(of rules.Rules, value func(Secret) (text string, isKnown bool, err error)) (any, error) {
	out := body.Clone(r.Body)
	for _, s := range r.Secrets {
		v, isKnown, err := value(s)
		if err != nil {
			return nil, err
		}
		at := rules.Places(of, r.Body, s.At)
		if len(at) == 0 {
			return nil, fmt.Errorf("%s: the secret at %.100q has no place: the body has no such item", CodeSecretPlace, s.At)
		}
		for _, place := range at {
			if !isKnown {
				continue
			}
			if out, err = body.Set(out, place.Exact, v); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Hidden returns the JSON pointers in the datafile of the values that no output may show. Where
// nothing is known of the body, that is all of it.
func (r *Resource) Hidden() []string {
	whole := []string{"/body", "/bodyText"}
	if r.bodyAt == "" || r.Of == nil {
		return whole
	}
	of, err := r.Rules()
	if err != nil {
		return whole
	}
	out := rules.HiddenIn(of, r.Body)
	if len(out) > 0 && r.bodyAt == "/bodyText" {
		return []string{r.bodyAt}
	}
	for i := range out {
		out[i] = r.bodyAt + out[i]
	}
	return out
}

// readBody reads the body of an entry. GraphQL hands it over as a text.
func (r *Resource) readBody(e resourceRow) {
	r.Where = map[string]string{}
	isWhole := r.Mistake.IsZero() // or a part of the body may be missing in the answer
	var text string
	isText := e.BodyText != nil
	hasBody := len(e.Body) > 0 && string(e.Body) != "null"
	switch {
	case isText && hasBody:
		r.fail(codeType, "/bodyText", "the entry has body and bodyText: one of them is enough")
		return
	case isText:
		text = *e.BodyText
	case !hasBody:
		if r.Body = map[string]any{}; isWhole {
			r.bodyAt = "/body"
		}
		return
	case json.Unmarshal(e.Body, &text) != nil:
		text = string(e.Body)
	}
	at := "/body"
	if isText {
		at = "/bodyText"
	}
	v, err := body.Parse([]byte(text))
	if err != nil {
		r.fail(codeType, at, err.Error())
		r.Body = map[string]any{}
		return
	}
	if _, isObject := v.(map[string]any); !isObject {
		r.fail(codeType, at, "the body must be an object")
		v = map[string]any{}
	}
	if r.Body = v; isWhole {
		r.bodyAt = at
	}
	if pointer, number := inexact(v, at); number != "" && !isText {
		r.fail(codeType, pointer,
			fmt.Sprintf("GraphQL hands over numbers like %.40s rounded: write the whole body as JSON text in bodyText", number))
	}
}

// inexact returns the place of a number that a GraphQL server of JavaScript may have rounded.
func inexact(v any, at string) (pointer, number string) {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || f > 1<<53-1 || f < -(1<<53-1) {
			return at, v.String()
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if p, n := inexact(v[name], jsonpointer.Append(at, name)); n != "" {
				return p, n
			}
		}
	case []any:
		for i, item := range v {
			if p, n := inexact(item, fmt.Sprintf("%s/%d", at, i)); n != "" {
				return p, n
			}
		}
	}
	return "", ""
}
