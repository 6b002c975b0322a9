package native

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// find reports a finding, once, and writes it into the log.
func (w *work) find(f reconcile.Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := identity(f)
	if w.told[id] {
		return
	}
	w.told[id] = true
	old := w.isOld(f)
	if f.Severity == reconcile.Error && !old {
		w.errors++
	}
	message := f.Message
	if len(f.Keys) > 0 {
		message = describeKeys(f.Keys) + ": " + message
	}
	// The log has it as well: a failure on base is compared with it.
	_, _ = fmt.Fprintln(w.env.Log, sanitize.Line(fmt.Sprintf("%s %s %s", f.Severity, f.Code, message)))
	w.env.Report(integration.Finding{Finding: plan.Finding{
		Code: string(f.Code), Severity: plan.Severity(f.Severity), File: f.Place.File, Pointer: f.Place.Pointer, Message: message, Old: old,
	}})
}

// identity returns a text that is the same for the same finding on both sides, wherever its
// entry stands.
func identity(f reconcile.Finding) string { return text([]any{f.Code, f.Severity, f.Keys, f.Message}) }

// maxKeys is how many keys a message names, and maxShown how many bytes of each.
const (
	maxKeys  = 5
	maxShown = 200
)

// describeKeys names keys in a message.
func describeKeys(keys []reconcile.Key) string {
	var words []string
	for _, k := range keys[:min(len(keys), maxKeys)] {
		words = append(words, short(k))
	}
	if more := len(keys) - maxKeys; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// short returns a key for a message.
func short(k reconcile.Key) string {
	text := string(k)
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	if text == "" {
		return "(no key)"
	}
	return sanitize.Line(text)
}
