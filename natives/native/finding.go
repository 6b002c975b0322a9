package native

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// find reports a finding, once, and writes it into the log.
func (w *work) find(f reconcile.Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := placed(f)
	if w.told[id] {
		return
	}
	w.told[id] = true
	old := w.isOld(f)
	if f.Severity == plan.SeverityError && !old {
		w.errors++
	}
	message := f.Message
	if len(f.Keys) > 0 {
		message = describeKeys(f.Keys) + ": " + message
	}
	// The log has it as well: a failure on base is compared with it.
	_, _ = fmt.Fprintln(w.env.Log, sanitize.Line(fmt.Sprintf("%s %s %s", f.Severity, f.Code, message)))
	w.env.Report(integration.Remark{Finding: plan.Finding{
		Code: f.Code, Severity: f.Severity, Place: f.Place, Message: message, Old: old,
	}})
}

// identity returns a text that is the same for the same finding on both sides. A finding about
// entries is the same wherever these stand. Another one belongs to its file, in which it may move.
func identity(f reconcile.Finding) string {
	file := ""
	if len(f.Keys) == 0 {
		file = f.File
	}
	return text([]any{f.Code, f.Severity, f.Keys, f.Message, file})
}

// placed returns the identity of a finding with its place in the file, unless it is about entries.
func placed(f reconcile.Finding) string {
	if len(f.Keys) > 0 {
		return identity(f)
	}
	return identity(f) + " " + f.Pointer
}

// noteOld notes findings of base.
func (w *work) noteOld(found ...reconcile.Finding) {
	for _, f := range found {
		if id := placed(f); !w.noted[id] {
			w.noted[id] = true
			w.old[identity(f)]++
		}
	}
}

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
	text = phrase.Cut(text, maxShown)
	if text == "" {
		return "(no key)"
	}
	return sanitize.Line(text)
}
