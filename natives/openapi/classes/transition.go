package classes

import (
	"slices"
	"strings"
)

// maxRule is the length in bytes up to which a rule is read.
const maxRule = 1000

// transition returns why a value must stay as it was by the rules of Kubernetes, nil if none
// says so. A rule stands at the value (self == oldSelf), or at an object around it
// (self.a.b == oldSelf.a.b). One at the value counts only while the value is there before and
// after; one around it can forbid that it comes or goes.
func (c *Classifier) transition(n *node, isRequired bool) (*Ground, error) {
	var out *Ground
	path, canSet, canUnset := "", true, !isRequired
	for around := n; around != nil; around = around.parent {
		side := first(around.requests()...)
		rules, err := side.keyword("x-kubernetes-validations")
		if err != nil {
			return nil, err
		}
		for _, r := range rules.Value.Items() {
			text := r.Get("rule").Text()
			if out == nil && slices.Contains(keeps(text), path) {
				out = declared(rules.Document.Place(r), "a transition rule says that it stays as it was")
			}
			set, unset := leaves(text, path)
			isOptional := r.Get("optionalOldSelf").Is()
			canSet, canUnset = canSet && set && !isOptional, canUnset && unset && !isOptional
		}
		// What is left out has its default: it neither comes nor goes.
		d, err := side.keyword("default")
		if err != nil {
			return nil, err
		}
		if d.Value != nil && (around == n || len(d.Value.Names()) > 0) {
			canSet, canUnset = false, false
		}
		if around.step.kind != property {
			break
		}
		path = "." + celName(around.step.name) + path
	}
	if out != nil {
		out.FreeToSet, out.FreeToUnset, out.Depth = canSet, canUnset, strings.Count(n.pointer, "/")
	}
	return out, nil
}

// leaves reports whether a rule leaves it free that the value of a path comes, or goes. Where
// a rule needs a value that is not there, the server refuses the change.
func leaves(rule, path string) (canSet, canUnset bool) {
	text := strings.Join(strings.Fields(rule), "")
	isAboutAll := strings.Count(text, "oldSelf") > strings.Count(text, "oldSelf.")
	switch {
	case path == "", !strings.Contains(text, "oldSelf"), !isAboutAll && !strings.Contains(text, "elf"+path):
		return true, true
	case isAboutAll, len(rule) > maxRule:
		return false, false
	}
	now, before := "has(self"+path+")", "has(oldSelf"+path+")"
	canSet, canUnset = true, true
	for _, part := range strings.Split(text, "&&") {
		mentions := strings.Contains(part, "elf"+path)
		found, isKept := kept(part)
		switch {
		case !mentions:
		case isKept && found == path:
			canSet, canUnset = canSet && strings.Contains(part, "!"+before), canUnset && strings.Contains(part, "!"+now)
		case part == "!"+before+"||"+now, part == now+"||!"+before:
			canUnset = false
		default:
			return false, false
		}
	}
	return canSet, canUnset
}

// keeps returns the paths of the values that a rule keeps as they were, such as .a.b, and ""
// for the value at which the rule stands. A rule whose sense is not clear keeps nothing.
func keeps(rule string) []string {
	if len(rule) > maxRule {
		return nil
	}
	var out []string
	for _, part := range strings.Split(strings.Join(strings.Fields(rule), ""), "&&") {
		path, isKept := kept(part)
		if !isKept && !isAboutPresence(part) {
			return nil
		}
		if isKept {
			out = append(out, path)
		}
	}
	return out
}

// kept reads self.a == oldSelf.a. In front of it may stand that one of both is not set.
func kept(part string) (path string, isKept bool) {
	terms := strings.Split(strings.TrimSuffix(strings.TrimPrefix(part, "("), ")"), "||")
	left, right, ok := strings.Cut(terms[len(terms)-1], "==")
	if strings.HasPrefix(left, "oldSelf") {
		left, right = right, left
	}
	path = strings.TrimPrefix(left, "self")
	if !ok || left != "self"+path || right != "oldSelf"+path || !isPath(path) {
		return "", false
	}
	for _, term := range terms[:len(terms)-1] {
		if term != "!has(self"+path+")" && term != "!has(oldSelf"+path+")" {
			return "", false
		}
	}
	return path, true
}

// isAboutPresence reports whether a part of a rule says that a value stays set, or unset.
func isAboutPresence(part string) bool {
	left, right, ok := strings.Cut(part, "==")
	return ok && strings.HasPrefix(left, "has(") && strings.HasPrefix(right, "has(") &&
		strings.ReplaceAll(left, "oldSelf", "self") == strings.ReplaceAll(right, "oldSelf", "self") && left != right
}

func isPath(path string) bool {
	if path == "" {
		return true
	}
	return path[0] == '.' && !strings.ContainsFunc(path, func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// celName returns the name of a property as rules spell it.
func celName(name string) string {
	return strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__").Replace(name)
}
