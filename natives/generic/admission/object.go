package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Group, Version, Kind and Plural name the custom resource.
const (
	Group   = "prcheck.dev"
	Version = "v1"
	Kind    = "GenericResource"
	Plural  = "genericresources"
)

// An object is a custom resource, with its spec not yet read.
type object struct {
	Kind     string `json:"kind"`
	APIGroup string `json:"apiVersion"`
	Metadata struct {
		Name              string  `json:"name"`
		DeletionTimestamp *string `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

var errNoObject = errors.New("the request has not the objects that its operation needs")

// readObject reads an object of a review, nil if there is none.
func readObject(raw json.RawMessage) (*object, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	spec, rest := cutMember(raw, "spec")
	var o object
	if err := json.Unmarshal(rest, &o); err != nil {
		return nil, fmt.Errorf("reading an object of the review: %w", err)
	}
	o.Spec = spec
	return &o, nil
}

// isOurs reports whether an object is a custom resource of ours.
func (o *object) isOurs() bool {
	group, _, _ := strings.Cut(o.APIGroup, "/")
	return o.Kind == Kind && group == Group
}

// maxPlaces is how many places of the body one field of a spec may name. Each property is compared
// with each place.
const maxPlaces = 1000

// spec is the spec of the custom resource, as a datafile has it, without the body.
type spec struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	Parent       string   `json:"parent"`
	ResourceID   string   `json:"resourceId"`
	Policy       string   `json:"policy"`
	Adopt        string   `json:"adopt"`
	Delete       bool     `json:"delete"`
	Protected    bool     `json:"protected"`
	AllowReplace bool     `json:"allowReplace"`
	AllowUpdate  []string `json:"allowUpdate"`
	Ignore       []string `json:"ignore"`
	Exclusive    []string `json:"exclusive"`
	Secrets      []struct {
		At string `json:"at"`
	} `json:"secrets"`
}

// resource reads the spec of an object as the entry of a datafile. The error is about the
// field that it names.
func (o *object) resource() (*cloud.Resource, *fieldError) {
	value, rest := cutMember(o.Spec, "body")
	var s spec
	if err := json.Unmarshal(rest, &s); err != nil {
		return nil, &fieldError{"spec", "FieldValueTypeInvalid", "it cannot be read: " + err.Error()}
	}
	for _, one := range []struct {
		field  string
		places int
	}{{"ignore", len(s.Ignore)}, {"exclusive", len(s.Exclusive)}, {"allowUpdate", len(s.AllowUpdate)},
		{"secrets", len(s.Secrets)}} {
		if one.places > maxPlaces {
			return nil, &fieldError{"spec." + one.field, "FieldValueTooMany",
				fmt.Sprintf("it names more than %d places", maxPlaces)}
		}
	}
	out := &cloud.Resource{
		Type: s.Type, Name: s.Name, Parent: s.Parent, ResourceID: s.ResourceID, Adopt: cloud.Adopt(s.Adopt),
		Delete: s.Delete, Protected: s.Protected, AllowReplace: s.AllowReplace, AllowUpdate: s.AllowUpdate, Ignore: s.Ignore,
		Exclusive: s.Exclusive,
	}
	if s.Policy != "manage" {
		out.Policy = reconcile.Policy(s.Policy)
	}
	for _, one := range s.Secrets {
		out.Secrets = append(out.Secrets, cloud.Secret{At: one.At})
	}
	if value == nil {
		return out, nil
	}
	var err error
	if out.Body, err = body.Parse(value); err != nil {
		return nil, &fieldError{"spec.body", "FieldValueInvalid", err.Error()}
	}
	return out, nil
}

// A fieldError is a mistake of a field of the custom resource.
type fieldError struct{ field, reason, message string }
