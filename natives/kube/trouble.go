package kube

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/refusal"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// A trouble is an answer that is none, or that refuses.
type trouble struct {
	code   int     // HTTP status; 0 without an answer
	status *status // what the API server says; nil if something else answered
	text   string
	after  time.Duration // how long the server asks to wait
	class  integration.FailureClass
}

// Error returns the text.
func (t *trouble) Error() string { return t.text }

// A status is the object with which an API server says that it refuses.
type status struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Details struct {
		Name   string  `json:"name"`
		Kind   string  `json:"kind"`
		Causes []cause `json:"causes"`
	} `json:"details"`
}

type cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// unreachable returns the trouble of a request that got no answer.
func unreachable(err error) error {
	text := err
	if u := (*url.Error)(nil); errors.As(err, &u) {
		text = u.Err // the address is known
	}
	if outward.IsRefused(err) {
		return &trouble{text: text.Error(), class: integration.FailureOfConfig}
	}
	if t := (*tls.CertificateVerificationError)(nil); errors.As(err, &t) {
		return &trouble{text: "its certificate cannot be trusted: " + text.Error(), class: integration.FailureOfConfig}
	}
	return &trouble{text: "it cannot be reached: " + text.Error(), class: integration.FailureTransient}
}

// readTrouble returns the trouble that an answer tells.
func readTrouble(code int, raw []byte, after time.Duration) error {
	t := &trouble{code: code, after: after, text: fmt.Sprintf("the server answers %d", code)}
	if s := new(status); json.Unmarshal(raw, s) == nil && s.Kind == "Status" {
		t.status = s
		t.text += ": " + withoutValues(cmp.Or(s.Message, s.Reason))
	} else if text := sanitize.Line(string(raw[:min(len(raw), maxText)])); text != "" {
		t.text += ", and this is not the answer of an API server: " + text
	}
	switch {
	case t.status != nil && strings.HasPrefix(t.status.Message, wrongFields):
		t.class = integration.FailureOfConfig
	case code == http.StatusForbidden && refusalOf(t.status, false) == refusal.AsItEnds:
		t.class = integration.FailureTransient
	case code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		t.class = integration.FailureTransient
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == http.StatusBadRequest ||
		code == http.StatusUnprocessableEntity:
		t.class = integration.FailureOfConfig
	}
	return t
}

// invalidValue is what stands before a value that a server refuses.
const invalidValue = "Invalid value: "

// withoutValues returns the message of a server without the objects that it repeats: they hide
// what is wrong, and can have what nobody may read.
func withoutValues(message string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(message, invalidValue)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString(invalidValue)
		if size := sizeOfValue(after); size > maxValue || strings.HasPrefix(after, "{") || strings.HasPrefix(after, "[") {
			out.WriteString("…")
			after = after[size:]
		}
		message = after
	}
}

// sizeOfValue returns the length of the value, quoted text or JSON, with which a text begins. It
// is the length of the text if nobody can tell.
func sizeOfValue(text string) int {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		return len(quoted)
	}
	value, is := json.NewDecoder(strings.NewReader(text)), json.RawMessage{}
	if err := value.Decode(&is); err != nil {
		return len(text)
	}
	return int(value.InputOffset())
}

// errGone says that the pages of a list that were read do not fit to those that follow.
var errGone = integration.Failure(integration.FailureTransient, errors.New("it changed while it was read"))

// wrongFields is how the text of a 500 begins with which a server refuses an object that it
// cannot understand.
const wrongFields = "failed to create typed patch object"

// maxValue is the length of the longest value of a field in a message.
const maxValue = 100

// maxText is the length of the longest foreign text in a message.
const maxText = 500

// explain returns the error of a call with the cluster, what was done, and what to do. It has
// the class of the trouble, or wraps what callers tell apart.
func (c *Connection) explain(of Call, err error) error {
	var t *trouble
	if !errors.As(err, &t) {
		return fmt.Errorf("cluster %q: %s: %w", c.cluster, of, err) // the context ended
	}
	if known := t.known(of); known != nil {
		return fmt.Errorf("cluster %q: %s: %w", c.cluster, of, known)
	}
	text := c.clean(err.Error())
	switch t.code {
	case http.StatusUnauthorized:
		text += "; the token is not valid (any more)"
	case http.StatusForbidden:
		text += "; " + refusalOf(t.status, of.Method == http.MethodGet).Remedy(of.Verbs+" of "+resourceName(of.Ref.Resource))
	}
	err = fmt.Errorf("cluster %q: %s: %s", c.cluster, of, text) // without what was wrapped, which may have the token
	if t.class == "" {
		return err
	}
	return integration.Failure(t.class, err)
}

// refusalOf returns why a server forbids a request.
func refusalOf(s *status, reads bool) refusal.Refusal {
	if s == nil {
		return refusal.Foreign
	}
	told := refusal.Denial{Message: s.Message, Reads: reads}
	for _, c := range s.Details.Causes {
		told.Causes = append(told.Causes, c.Reason)
	}
	return refusal.Of(told)
}

// Wrong returns the error of a call whose answer is not what was asked for.
func (c *Connection) Wrong(of Call, why string) error { return c.explain(of, &trouble{text: why}) }

// Refuse returns the error of a call that is not sent, because it is wrong.
func (c *Connection) Refuse(of Call, why string) error {
	return c.explain(of, &trouble{text: why, class: integration.FailureOfConfig})
}

// clean returns foreign text that can be shown: short, on one line and without the token.
func (c *Connection) clean(text string) string {
	text = sanitize.Line(strings.ReplaceAll(text, c.token, "[token]"))
	return phrase.Cut(text, maxText)
}

// known returns the error that callers tell apart, nil if there is none. Only an API server can
// say that an object is not there: the page of a proxy cannot.
func (t *trouble) known(of Call) error {
	if t.status == nil {
		return nil
	}
	d := t.status.Details
	switch {
	case t.code == http.StatusGone:
		return errGone
	case t.code == http.StatusNotFound && t.status.Reason == "NotFound" && d.Name == of.Ref.Name &&
		d.Kind == of.Ref.Plural && d.Name != "":
		return integration.ErrNotThere
	case t.code == http.StatusUnprocessableEntity && of.Method == http.MethodPatch &&
		slices.ContainsFunc(d.Causes, func(c cause) bool { return c.Field == "metadata.uid" }):
		return integration.ErrChanged // another object has its name
	case t.code != http.StatusConflict:
		return nil
	case t.status.Reason != "Conflict" && t.status.Reason != "AlreadyExists":
		return nil
	}
	conflict := &integration.FieldConflict{}
	for _, cause := range d.Causes {
		if cause.Reason == "FieldManagerConflict" {
			conflict.Managers = append(conflict.Managers, managerOf(cause.Message))
			conflict.Fields = append(conflict.Fields, sanitize.Line(cause.Field))
		}
	}
	if len(conflict.Fields) > 0 && of.Kind == applyPatch {
		return conflict
	}
	return integration.ErrChanged
}

// managerOf returns the manager that a conflict names: conflict with "NAME" using v1.
func managerOf(message string) string {
	_, rest, _ := strings.Cut(message, "conflict with ")
	if quoted, err := strconv.QuotedPrefix(rest); err == nil {
		if name, err := strconv.Unquote(quoted); err == nil {
			return sanitize.Line(name)
		}
	}
	return "somebody"
}
