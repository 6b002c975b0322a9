package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/openapi/classes"
)

// A failure is what a service says about a request that it refuses.
type failure struct {
	Status                int
	Code, Target, Message string
	Details               []failure
	Causes                []cause
	Kind                  string // what the details of Kubernetes are about, such as namespaces
	IsKubernetes          bool
}

// A cause is what an API server of Kubernetes says about one field.
type cause struct{ Reason, Field, Message string }

// maxFailures is how many details and causes of a failure are read, and how deep.
const (
	maxFailures = 50
	maxNested   = 5
)

// readFailure reads the body of an answer with an error: {"error": {code, message, target,
// details}}, the same without error, or a Status of Kubernetes.
func readFailure(status int, body any) failure {
	object, _ := body.(map[string]any)
	f := failure{Status: status}
	if text(object["kind"]) == "Status" {
		details, _ := object["details"].(map[string]any)
		f.IsKubernetes, f.Code, f.Message, f.Kind = true, text(object["reason"]), text(object["message"]),
			text(details["kind"])
		causes, _ := details["causes"].([]any)
		for _, one := range causes[:min(len(causes), maxFailures)] {
			c, _ := one.(map[string]any)
			f.Causes = append(f.Causes, cause{text(c["reason"]), text(c["field"]), text(c["message"])})
		}
		return f
	}
	for _, name := range []string{"error", "odata.error", "Error"} {
		if inner, ok := object[name].(map[string]any); ok {
			object = inner
			break
		}
	}
	f.read(object, maxNested)
	f.Status = status
	return f
}

func (f *failure) read(object map[string]any, depth int) {
	f.Code, f.Target, f.Message = text(object["code"]), text(object["target"]), text(object["message"])
	details, _ := object["details"].([]any)
	if inner, ok := object["innererror"].(map[string]any); ok {
		details = append(slices.Clip(details), inner)
	}
	if depth == 0 {
		return
	}
	for _, one := range details[:min(len(details), maxFailures)] {
		if inner, ok := one.(map[string]any); ok {
			var d failure
			d.read(inner, depth-1)
			f.Details = append(f.Details, d)
		}
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// all returns a failure and its details, the outermost first.
func (f failure) all() []failure {
	out := []failure{f}
	for _, d := range f.Details {
		out = append(out, d.all()...)
	}
	return out
}

// class says what to do about a failure of a type: the codes that are known decide, then the status.
func (f failure) class(typeName string) Class {
	if f.IsKubernetes {
		if class, ok := f.kubernetesClass(typeName); ok {
			return class
		}
		return statusClass(f.Status)
	}
	for _, one := range f.all() {
		if class, ok := knownCodes[strings.ToLower(one.Code)]; ok {
			return class
		}
	}
	for _, one := range f.all() {
		isTaken := func(end string) bool { return strings.HasSuffix(strings.ToLower(one.Code), end) }
		if f.Status == http.StatusConflict && slices.ContainsFunc(takenNames, isTaken) {
			return Fatal
		}
	}
	return statusClass(f.Status)
}

// kubernetesClass reads what the status of an API server alone does not tell. A namespace that is not
// there is the missing parent of what would be in it, and not of itself.
func (f failure) kubernetesClass(typeName string) (Class, bool) {
	switch {
	case f.Code == "AlreadyExists", f.Code == "Conflict":
		return Reread, true
	case f.Code == "NotFound" && f.Kind == "namespaces" && !isNamespace(typeName):
		return Retry, true
	case slices.ContainsFunc(f.Causes, func(c cause) bool { return c.Reason == "NamespaceTerminating" }):
		return Retry, true
	}
	return "", false
}

// isNamespace reports whether a type is that of namespaces of Kubernetes.
func isNamespace(typeName string) bool {
	name, _, _ := strings.Cut(typeName, "@")
	return strings.EqualFold(name, "v1/namespaces")
}

// statusClass says what to do about a status whose code is not known.
func statusClass(status int) Class {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusTooEarly:
		return Retry
	case http.StatusForbidden, http.StatusLocked, http.StatusPaymentRequired:
		return Slow
	case http.StatusNotFound, http.StatusGone:
		return Gone
	case http.StatusPreconditionFailed:
		return Reread
	case http.StatusNotImplemented:
		return Fatal
	}
	if status >= 500 {
		return Retry
	}
	return Fatal
}

// error returns a failure as an error about a type. The function makes a text of the service
// fit to be shown.
func (f failure) error(typeName string, show func(string) string) *Error {
	e := &Error{Class: f.class(typeName), Code: show(f.Code), Status: f.Status, Target: show(f.Target),
		Message: show(f.Message)}
	for _, d := range f.all()[1:] {
		if d.Code != "" && len(e.Message) < maxMessage {
			e.Message = strings.TrimSpace(e.Message + " " + show(d.Code) + ": " + show(d.Message))
		}
	}
	e.Overrides, e.conflicts = f.overrides(typeName, show), f.conflicts()
	return e
}

// propertyChange is the code with which ARM refuses a change of a property.
const propertyChange = "PropertyChangeNotAllowed"

// named finds the property that a message of ARM names.
var named = lazyregexp.New(`(?i)property '([A-Za-z0-9_.\[\]]{1,200})'`)

// overrides returns the entries that a failure teaches: what the service refuses to change is
// create-only.
func (f failure) overrides(typeName string, show func(string) string) []classes.Entry {
	name, _, _ := strings.Cut(typeName, "@")
	var out []classes.Entry
	add := func(path, reason string) {
		e := classes.Entry{Type: name, Path: path, Class: "createOnly", Reason: "refused by the service: " + reason}
		isKnown := slices.ContainsFunc(out, func(o classes.Entry) bool { return o.Path == path })
		if path != "" && name != "" && !isKnown {
			out = append(out, e)
		}
	}
	for _, one := range f.all() {
		if !strings.EqualFold(one.Code, propertyChange) {
			continue
		}
		target := one.Target
		if m := named.FindStringSubmatch(one.Message); target == "" && m != nil {
			target = m[1]
		}
		add(fieldPath(show(target)), propertyChange)
	}
	for _, c := range f.Causes {
		if reason := immutable(c.Message); reason != "" {
			add(fieldPath(show(c.Field)), reason)
		}
	}
	return out
}

// immutable returns the words with which a message says that a field cannot be changed, "" if
// it does not say so. The value that the message quotes is left out. What cannot be changed
// under a condition of another field is no class of the field.
func immutable(message string) string {
	last := strings.TrimSpace(message[strings.LastIndex(message, ": ")+1:])
	lower := strings.ToLower(last)
	isConditional := strings.Contains(lower, " when ") || strings.Contains(lower, " unless ")
	if isConditional || !slices.ContainsFunc(unchangeable, func(words string) bool {
		return strings.Contains(lower, words)
	}) {
		return ""
	}
	if isWords(last) {
		return last
	}
	return "field is immutable"
}

// unchangeable is words of services for what cannot be changed.
var unchangeable = []string{"immutable", "may not change once set", "may not be changed", "cannot be changed",
	"cannot change"}

func isWords(text string) bool {
	const most = 80
	return len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool {
		return r != ' ' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// fieldPath returns a property that a service names as a path of an override: dotted, [] for
// any item, {} for any key.
func fieldPath(field string) string {
	field = strings.TrimPrefix(strings.TrimSpace(field), "$.")
	if strings.HasPrefix(field, "/") {
		field = strings.ReplaceAll(field[1:], "/", ".")
	}
	var b strings.Builder
	for field = strings.Trim(field, "."); field != ""; {
		open := strings.IndexByte(field, '[')
		end := strings.IndexByte(field[max(open, 0):], ']')
		if open < 0 || end < 0 {
			b.WriteString(field)
			break
		}
		b.WriteString(field[:open])
		b.WriteString(bracket(field[open+1 : open+end]))
		field = field[open+end+1:]
	}
	parts := strings.Split(b.String(), ".")
	for i, part := range parts {
		if i > 0 && isNumber(part) {
			parts[i-1], parts[i] = parts[i-1]+"[]", ""
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
}

// bracket writes what stands in brackets: a number or keys of an item, or the key of a map.
func bracket(inside string) string {
	if isNumber(inside) || strings.ContainsAny(inside, "=*") || inside == "" {
		return "[]"
	}
	return "{}"
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// maxMessage is how many bytes of a message of a service are shown.
const maxMessage = 300

// text makes a text of the service fit to be shown: without secrets, on one line, bounded.
func (c *Client) text(message string) string {
	if len(message) > 10*maxMessage {
		message = message[:10*maxMessage]
	}
	if c.Mask != nil {
		message = c.Mask(message)
	}
	message = sanitize.Line(message)
	return phrase.Cut(message, maxMessage)
}
