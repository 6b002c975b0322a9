package admission

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// judge answers a request. Once stop returns true, a change is refused. An error says that the
// request is no valid one.
func (h *Handler) judge(r *request, stop func() bool) (*response, error) {
	object, err := readObject(r.Object)
	if err != nil {
		return nil, err
	}
	old, err := readObject(r.OldObject)
	if err != nil {
		return nil, err
	}
	passes := &response{Allowed: true}
	switch r.Operation {
	case "CREATE":
		old = nil
	case "UPDATE":
		if old == nil {
			return nil, errNoObject
		}
	case "DELETE":
		if old == nil {
			return nil, errNoObject
		}
		return h.deletion(old), nil
	default: // CONNECT, and what may come
		return passes, nil
	}
	switch {
	case object == nil:
		return nil, errNoObject
	case r.SubResource != "", object.Metadata.DeletionTimestamp != nil:
		return passes, nil
	case !object.isOurs():
		passes.Warnings = []string{"this is no " + Kind + " of " + Group +
			", so it was not checked; mend the rules of the webhook"}
		return passes, nil
	case old != nil && bytes.Equal(old.Spec, object.Spec):
		return passes, nil
	}
	return h.change(old, object, stop), nil
}

// deletion judges whether an object may be deleted.
func (h *Handler) deletion(old *object) *response {
	r, wrong := old.resource()
	switch {
	case !old.isOurs(), old.Metadata.DeletionTimestamp != nil, wrong != nil, r.Policy != reconcile.Manage:
		return &response{Allowed: true}
	case r.Protected:
		return forbidden(old, "it is protected; remove spec.protected first")
	case h.options.ProtectDeletes && !r.Delete:
		return forbidden(old, "its resource would be left behind; set spec.delete: true first")
	}
	return &response{Allowed: true}
}

func forbidden(o *object, why string) *response {
	return &response{Status: &status{Status: "Failure", Code: http.StatusForbidden, Reason: "Forbidden",
		Message: fmt.Sprintf("%s.%s %q cannot be deleted: %s", Plural, Group, shorten(printable(o.Metadata.Name)), why),
		Details: &details{Name: shorten(o.Metadata.Name), Group: Group, Kind: Kind}}}
}

// A verdict gathers what is wrong with an object.
type verdict struct {
	causes   []cause
	warnings []string
	isLate   bool
}

// refuse adds a cause.
func (v *verdict) refuse(field, reason, message string) {
	v.causes = append(v.causes, cause{Field: shorten(printable(field)), Reason: reason,
		Message: shorten(printable(message))})
}

// warn adds a warning.
func (v *verdict) warn(field, message string) {
	v.warnings = append(v.warnings, printable(field+": "+message))
}

// change judges an object that is new, or that replaces an old one.
func (h *Handler) change(old, object *object, stop func() bool) *response {
	var v verdict
	head, wrong := object.resource()
	if wrong != nil {
		v.refuse(wrong.field, wrong.reason, wrong.message)
		return v.response(object)
	}
	var base *cloud.Resource
	if old != nil && !stop() {
		base, _ = old.resource() // what cannot be read has no mistakes to compare with
	}
	if stop() {
		v.isLate = true
		v.refuse("spec.body", "FieldValueInvalid", validate.TimeMessage)
		return v.response(object)
	}
	v.identity(base, head)
	pair := check.Pair{Base: base, Head: head, Types: h.typesOf(&v, base, head), Stop: stop}
	for _, f := range pair.Check().Findings {
		h.weigh(&v, f)
	}
	return v.response(object)
}

// typesOf returns what is known of the types of both objects.
func (h *Handler) typesOf(v *verdict, base, head *cloud.Resource) []*validate.Checker {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*validate.Checker
	if base != nil && !strings.EqualFold(base.Type, head.Type) {
		if t, err := h.types.Type(base.Type); err == nil {
			out = append(out, t)
		}
	}
	t, err := h.types.Type(head.Type)
	switch {
	case err == nil:
		out = append(out, t)
	case base != nil && base.Type == head.Type:
		v.warn("spec.type", err.Error())
	default:
		v.refuse("spec.type", "FieldValueNotSupported", err.Error())
	}
	return out
}

// identity refuses to let an object stand for another resource.
func (v *verdict) identity(base, head *cloud.Resource) {
	if base == nil {
		return
	}
	plain := func(name string) string {
		name, _, _ = strings.Cut(name, "@") // another version of the type is no other type
		return name
	}
	for _, one := range []struct{ field, was, is string }{
		{"type", plain(base.Type), plain(head.Type)}, {"name", base.Name, head.Name},
		{"parent", base.Parent, head.Parent}, {"resourceId", base.ResourceID, head.ResourceID},
	} {
		if !strings.EqualFold(one.was, one.is) {
			v.refuse("spec."+one.field, "FieldValueForbidden",
				fmt.Sprintf("it is a part of the identity of the resource and was %q; make another object for another resource",
					shorten(one.was)))
		}
	}
}

// reasons are the reasons of causes, as Kubernetes names them. Others are FieldValueInvalid.
var reasons = map[plan.FindingCode]string{
	validate.CodeReadOnly:   "FieldValueForbidden",
	validate.CodeSecret:     "FieldValueForbidden",
	reconcile.CodeProtected: "FieldValueForbidden",
	validate.CodeRequired:   "FieldValueRequired",
	validate.CodeEnum:       "FieldValueNotSupported",
	reconcile.CodeType:      "FieldValueTypeInvalid",
	reconcile.CodeDuplicate: "FieldValueDuplicate",
}

// weigh puts a finding into the verdict. Notes are not told.
func (h *Handler) weigh(v *verdict, f check.Finding) {
	message, inferred := f.Message, f.Code == check.CodeCreateOnlyInferred
	switch {
	case inferred:
		message = "it is probably create-only: " + message
	case f.Code == check.CodeCreateOnly:
		message = "it is create-only: " + message
	}
	v.isLate = v.isLate || f.Code == validate.CodeTime
	field := fieldOf(f)
	switch {
	case f.Severity == plan.SeverityNote:
	case f.Fails() && !(inferred && h.options.WarnInferred):
		v.refuse(field, cmp.Or(reasons[f.Code], "FieldValueInvalid"), message)
	default:
		v.warn(field, message)
	}
}

// fieldOf returns the field of the custom resource as Kubernetes writes it, such as
// spec.body.disks[0].size.
func fieldOf(f check.Finding) string {
	var out strings.Builder
	out.WriteString("spec")
	for _, part := range jsonpointer.Split(f.Pointer) {
		if strings.ContainsAny(part, ".[]/ ") || part == "" || part[0] >= '0' && part[0] <= '9' {
			out.WriteString("[" + part + "]")
			continue
		}
		out.WriteString("." + part)
	}
	return out.String()
}

// maxCauses is how many mistakes an answer names.
const maxCauses = 100

// response returns the answer.
func (v *verdict) response(o *object) *response {
	if len(v.causes) == 0 {
		return &response{Allowed: true, Warnings: v.warnings}
	}
	slices.SortStableFunc(v.causes, func(a, b cause) int {
		return cmp.Or(strings.Compare(a.Field, b.Field), strings.Compare(a.Reason, b.Reason))
	})
	message := fmt.Sprintf("%s.%s %q is invalid: %s: %s", Kind, Group, shorten(printable(o.Metadata.Name)),
		v.causes[0].Field, v.causes[0].Message)
	if more := len(v.causes) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	v.causes = v.causes[:min(len(v.causes), maxCauses)]
	return &response{isLate: v.isLate, Warnings: v.warnings,
		Status: &status{Status: "Failure", Code: http.StatusUnprocessableEntity, Reason: "Invalid", Message: message,
			Details: &details{Name: shorten(o.Metadata.Name), Group: Group, Kind: Kind, Causes: v.causes}}}
}

// The bounds of texts, in bytes.
const (
	maxMessage  = 1000 // of a cause
	maxWarning  = 120
	maxWarnings = 4096 // of all warnings together
)

// bounded cuts warnings so that the API server shows them.
func bounded(warnings []string) []string {
	var out []string
	left := maxWarnings
	for _, w := range warnings {
		if w = cut(w, maxWarning); len(w) > left {
			break
		}
		left -= len(w)
		out = append(out, w)
	}
	return out
}

func shorten(text string) string { return cut(text, maxMessage) }

// cut returns a text with at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// maxForeign is how many bytes of a foreign text are looked at. Less of it is shown.
const maxForeign = 8 * maxMessage

// printable returns the beginning of a foreign text in one line.
func printable(text string) string { return sanitize.Line(text[:min(len(text), maxForeign)]) }

// marshal writes an answer.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}

//go:embed configuration.yaml
var configuration string

// A Configuration says how an API server reaches the webhook.
type Configuration struct {
	// URL is https://HOST[:PORT], or Service is NAMESPACE/NAME of a service with the port 443.
	URL, Service string
	CA           []byte // certificates in PEM that the API server is to trust; nil: its own
	Failure      string // Fail or Ignore: what happens when the webhook does not answer
}

var (
	errOneOf = errors.New("name either a service, as NAMESPACE/NAME, or an https URL")
	errURL   = errors.New("the URL must be https://HOST or https://HOST:PORT")
)

// Write writes the CustomResourceDefinition and the ValidatingWebhookConfiguration, as YAML.
func (c Configuration) Write(w io.Writer) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	if c.Failure == "" {
		c.Failure = "Fail"
	}
	if !slices.Contains([]string{"Fail", "Ignore"}, c.Failure) {
		return fmt.Errorf("the failure policy is %q; it must be Fail or Ignore", c.Failure)
	}
	_, err = strings.NewReplacer("CLIENT_CONFIG", client, "FAILURE_POLICY", c.Failure).WriteString(w, configuration)
	return err
}

// client returns how the API server reaches the webhook, as JSON, which is YAML.
func (c Configuration) client() (string, error) {
	out := map[string]any{}
	namespace, name, isService := strings.Cut(c.Service, "/")
	switch {
	case (c.URL == "") == (c.Service == ""),
		c.Service != "" && (!isService || namespace == "" || name == "" || strings.Contains(name, "/")):
		return "", errOneOf
	case c.URL != "":
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" ||
			u.RawQuery != "" || u.Fragment != "" {
			return "", errURL
		}
		out["url"] = "https://" + u.Host + "/validate"
	default:
		out["service"] = map[string]any{"namespace": namespace, "name": name, "path": "/validate", "port": 443}
	}
	if c.CA != nil {
		out["caBundle"] = c.CA // as base64
	}
	raw, err := marshal(out)
	return strings.TrimSpace(string(raw)), err
}
