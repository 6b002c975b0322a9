package admission_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/admission"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
)

// always is one type for all names.
type always struct{ rules rules.Rules }

func (a always) Type(string) (*validate.Checker, error) {
	return &validate.Checker{Rules: a.rules}, nil
}

// A reply is an AdmissionReview with an answer.
type reply struct {
	APIVersion, Kind string
	Response         struct {
		UID      string
		Allowed  bool
		Warnings []string
		Status   struct {
			Status, Reason, Message string
			Code                    int
			Details                 struct {
				Causes []struct{ Field, Reason, Message string }
			}
		}
	}
}

func post(t testing.TB, h http.Handler, raw []byte) (*httptest.ResponseRecorder, reply) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/validate", bytes.NewReader(raw))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out reply
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("the answer %q: %v", w.Body, err)
		}
	}
	return w, out
}

func TestAdmissionCases(t *testing.T) {
	type admissionCase struct {
		Input struct {
			Review        json.RawMessage
			Rules         rules.Table
			Inferred      string
			ProtectDelete bool `json:"protect_delete"`
		}
		Expected struct {
			HTTP, Code  int
			Allowed     bool
			UID, Reason string
			Warnings    *int
			Causes      []struct{ Field, Reason, Contains string }
		}
	}
	shared.Each(t, "admission", func(t *testing.T, c admissionCase) {
		in, want := c.Input, c.Expected
		raw, size, text := []byte(in.Review), struct{ Bytes int }{}, ""
		switch { // a text stands for itself: it is no JSON
		case json.Unmarshal(in.Review, &text) == nil:
			raw = []byte(text)
		case json.Unmarshal(in.Review, &size) == nil && size.Bytes > 0:
			raw = bytes.Repeat([]byte(" "), size.Bytes)
		}
		h := admission.NewHandler(always{in.Rules}, admission.Options{WarnInferred: in.Inferred == "warn",
			ProtectDeletes: in.ProtectDelete})
		w, got := post(t, h, raw)
		if want.HTTP != 0 {
			if w.Code != want.HTTP {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, want.HTTP)
			}
			return
		}
		r := got.Response
		if w.Code != http.StatusOK || r.UID != want.UID || r.Allowed != want.Allowed || r.Status.Code != want.Code ||
			r.Status.Reason != want.Reason {
			t.Fatalf("got %d %s, want %+v", w.Code, w.Body, want)
		}
		if want.Warnings != nil && len(r.Warnings) != *want.Warnings {
			t.Errorf("got the warnings %q, want %d", r.Warnings, *want.Warnings)
		}
		if len(r.Status.Details.Causes) != len(want.Causes) {
			t.Fatalf("got %s, want %+v", w.Body, want)
		}
		for i, cause := range r.Status.Details.Causes {
			if w := want.Causes[i]; cause.Field != w.Field || cause.Reason != w.Reason ||
				!strings.Contains(cause.Message, w.Contains) {
				t.Errorf("got %+v, want %+v", cause, w)
			}
		}
	})
}
