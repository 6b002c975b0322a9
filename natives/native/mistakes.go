package native

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// maxText is the maximal length of a key and of a caller in bytes.
const maxText = 1024

// withMistakes returns the data in which entries say that they cannot be used: those with a
// wrong key or caller, and those of several parts with one key.
func (d Desired) withMistakes() Desired {
	parts := map[reconcile.Key]int{} // how many parts name a key
	for _, p := range d.Parts {
		seen := map[reconcile.Key]bool{}
		for _, it := range p.Items {
			if !seen[it.Key] {
				parts[it.Key]++
			}
			seen[it.Key] = true
		}
	}
	d.Parts = slices.Clone(d.Parts)
	for i := range d.Parts {
		p := &d.Parts[i]
		wrong := checkText(p.Caller)
		p.Items = slices.Clone(p.Items)
		for j := range p.Items {
			it := &p.Items[j]
			switch bad := checkText(string(it.Key)); {
			case it.Mistake != (reconcile.Mistake{}):
			case wrong != "":
				it.Mistake = reconcile.Mistake{Code: reconcile.CodeType, Message: "its caller " + wrong}
			case bad != "" || it.Key == "":
				it.Mistake = reconcile.Mistake{Code: reconcile.CodeType, Message: describeKey(bad)}
			case parts[it.Key] > 1:
				it.Mistake = reconcile.Mistake{Code: reconcile.CodeDuplicate, Message: "several parts have an entry with this key"}
			}
		}
	}
	return d
}

// describeKey says what is wrong with a key; bad is what [checkText] says about it.
func describeKey(bad string) string {
	if bad == "" {
		return "it has no key"
	}
	return "its key " + bad
}

// checkText returns what is wrong with a text that becomes a mark or a key.
func checkText(s string) string {
	switch {
	case len(s) > maxText:
		return fmt.Sprintf("has more than %d bytes", maxText)
	case s != strings.ToValidUTF8(s, ""):
		return "is not UTF-8"
	default:
		return ""
	}
}
