package rules

import "github.com/app-sre/prcheck/internal/jsonpointer"

// Vouched returns rules that show and compare only what the rules of somebody else show as well: a place that theirs
// hide, or do not know, is a secret, and is not compared. Several vouch for a place only together.
func Vouched(r Rules, by ...Rules) Rules { return vouched{r, by} }

// A vouched is the rules of somebody who is not trusted, with the rules of those who are.
type vouched struct {
	Rules
	by []Rules
}

// At implements [Rules].
func (v vouched) At(pattern string) Rule { return v.find(pattern, pattern) }

func (v vouched) find(pattern, path string) Rule {
	r := Find(v.Rules, pattern, path)
	for _, other := range v.by {
		if theirs := Find(other, pattern, path); theirs.withholds(r) || Lacks(other, pattern) {
			return r.withheld()
		}
	}
	return r
}

// withholds reports whether a rule hides a value that another rule shows or compares.
func (r Rule) withholds(other Rule) bool {
	switch {
	case other.WriteOnly: // it is neither
		return false
	case other.Secret:
		return r.WriteOnly || r.Doubt != ""
	}
	return r.Secret || r.WriteOnly || r.Doubt != "" || r.Masked && !other.Masked
}

// Withheld returns rules by which what is at some places, and in them, is a secret that is not compared.
func Withheld(r Rules, places []string) Rules {
	if len(places) == 0 {
		return r
	}
	return withheld{r, places, false}
}

// Secret returns rules by which what is at some places, and in them, is a secret. It is compared as before.
func Secret(r Rules, places []string) Rules {
	if len(places) == 0 {
		return r
	}
	return withheld{r, places, true}
}

// A withheld is rules with places of which nothing is shown.
type withheld struct {
	Rules
	places     []string
	isCompared bool
}

// At implements [Rules].
func (w withheld) At(pattern string) Rule { return w.find(pattern, pattern) }

func (w withheld) find(pattern, path string) Rule {
	r := Find(w.Rules, pattern, path)
	switch {
	case !Covers(w.places, pattern, path):
	case w.isCompared:
		r.Secret = true
	default:
		return r.withheld()
	}
	return r
}

// withheld returns a rule by which a value is neither shown nor compared.
func (r Rule) withheld() Rule {
	r.Secret, r.Ignore, r.Withheld = true, true, true
	return r
}

// IsWithheldIn reports whether a body has a value that is withheld.
func IsWithheldIn(r Rules, v any) bool { return isWithheldIn(r, "", "", v) }

func isWithheldIn(r Rules, pattern, path string, v any) bool {
	rule := Find(r, pattern, path)
	if rule.Withheld {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			if isWithheldIn(r, jsonpointer.Append(pattern, name), jsonpointer.Append(path, name), item) {
				return true
			}
		}
	case []any:
		rule = rule.Keyed(r.At, pattern, v, nil, nil)
		for _, item := range v {
			_, name := Identify(r.At, pattern, rule, item)
			if isWithheldIn(r, pattern+"/*", jsonpointer.Append(path, name), item) {
				return true
			}
		}
	}
	return false
}

func (v vouched) members(pattern string) []string { return Members(v.Rules, pattern) }

func (w withheld) members(pattern string) []string { return Members(w.Rules, pattern) }
