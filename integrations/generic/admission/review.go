package admission

import (
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

// readReview reads a question.
func readReview(raw []byte) (review, error) {
	var r review
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("%w: %w", errNoReview, err)
	}
	switch {
	case r.Kind != "AdmissionReview" || !slices.Contains([]string{group + "/v1", group + "/v1beta1"}, r.APIVersion):
		return r, errNoReview
	case r.Request == nil || r.Request.UID == "" || r.Request.Operation == "":
		return r, errNoRequest
	}
	return r, nil
}
