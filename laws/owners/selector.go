package main

import (
	"fmt"

	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A selector is a path whose meaning the law knows.
type selector []part

// A part of a selector is a name, an item, all items, or the items with a name.
type part struct {
	name  string // of a member
	item  int
	all   bool
	named string // [?(@.n=='…')]
}

// isItem reports whether the part is one of a list.
func (p part) isItem() bool { return p.name == "" }

// text writes a selector as change types have it.
func (s selector) text() string {
	out := "$"
	for _, p := range s {
		switch {
		case p.named != "":
			out += "[?(@.n=='" + p.named + "')]"
		case p.all:
			out += "[*]"
		case p.isItem():
			out += fmt.Sprintf("[%d]", p.item)
		default:
			out += ".'" + p.name + "'"
		}
	}
	return out
}

// allows reports whether a selector yields a place of a document, or one above it.
func (s selector) allows(at jsonpath.Location, document any) bool {
	if len(s) > len(at) {
		return false
	}
	for i, p := range s {
		step := at[i]
		if p.isItem() != step.IsItem {
			return false
		}
		switch {
		case p.named != "":
			item, _ := at[:i+1].At(document)
			o, _ := item.(map[string]any)
			if o["n"] != p.named {
				return false
			}
		case p.isItem() && !p.all:
			n := p.item
			if list, _ := at[:i].At(document); n < 0 {
				n += len(list.([]any))
			}
			if step.Item != n {
				return false
			}
		case !p.isItem() && step.Name != p.name:
			return false
		}
	}
	_, isThere := at[:len(s)].At(document)
	return isThere
}
