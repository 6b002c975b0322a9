package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// group is the API group of the reviews.
const group = "admission.k8s.io"

// A review is a question, and the answer to it.
type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

// A request says what somebody wants to do.
type request struct {
	UID         string          `json:"uid"`
	Operation   string          `json:"operation"`
	SubResource string          `json:"subResource"`
	Object      json.RawMessage `json:"object"`
	OldObject   json.RawMessage `json:"oldObject"`
}

type response struct {
	UID      string   `json:"uid"`
	Allowed  bool     `json:"allowed"`
	Status   *status  `json:"status,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	isLate bool // it is refused, for there was no time
}

// A status says why a request is refused.
type status struct {
	Status  string   `json:"status"`
	Code    int      `json:"code"`
	Reason  string   `json:"reason"`
	Message string   `json:"message"`
	Details *details `json:"details,omitempty"`
}

type details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"`
	Causes []cause `json:"causes,omitempty"`
}

// A cause is one mistake.
type cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

var (
	errNoReview  = errors.New("this is no AdmissionReview of admission.k8s.io/v1 or v1beta1")
	errNoRequest = errors.New("the review has no request with a uid and an operation")
)

// readReview reads a question. The objects of its request are parts of the text.
func readReview(raw []byte) (review, error) {
	var r review
	if !json.Valid(raw) {
		return r, fmt.Errorf("%w: %w", errNoReview, json.Unmarshal(raw, &r))
	}
	inner, outer := cutMember(raw, "request")
	object, inner := cutMember(inner, "object")
	old, inner := cutMember(inner, "oldObject")
	if err := json.Unmarshal(outer, &r); err != nil {
		return r, fmt.Errorf("%w: %w", errNoReview, err)
	}
	if inner != nil {
		r.Request = nil
		if err := json.Unmarshal(inner, &r.Request); err != nil {
			return r, fmt.Errorf("%w: %w", errNoReview, err)
		}
	}
	switch {
	case !r.isReview():
		return r, errNoReview
	case r.Request == nil || r.Request.UID == "" || r.Request.Operation == "":
		return r, errNoRequest
	}
	r.Request.Object, r.Request.OldObject = object, old
	return r, nil
}

func (r review) isReview() bool {
	return r.Kind == "AdmissionReview" && slices.Contains([]string{group + "/v1", group + "/v1beta1"}, r.APIVersion)
}

// peek reads which review it is from the beginning of a text, as far as an API server writes that
// first.
func peek(begin []byte) (review, bool) {
	r, isInside := review{Request: &request{}}, false
	d := json.NewDecoder(bytes.NewReader(begin))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return r, false
	}
	for d.More() && (!r.isReview() || r.Request.UID == "") {
		name, err := d.Token()
		switch {
		case err != nil:
			return r, false
		case !isInside && name == "kind":
			err = d.Decode(&r.Kind)
		case !isInside && name == "apiVersion":
			err = d.Decode(&r.APIVersion)
		case !isInside && name == "request":
			isInside = true
			_, err = d.Token()
		case isInside && name == "uid":
			err = d.Decode(&r.Request.UID)
		default:
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return r, false
		}
	}
	return r, r.isReview() && r.Request.UID != ""
}
