package validator

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A uniqueKey is a field of a type with a value that may occur only once.
type uniqueKey struct{ typ, field, value string }

func (u uniqueValue) key() uniqueKey { return uniqueKey{u.typ, u.field, u.value} }

// findDuplicates finds the values that occur more than once. values are those of the
// checked files. Files that were not checked are read only if they may hold one of these
// values.
func (c *checker) findDuplicates(uses []uniqueValue, checked map[bundle.Path]bool) []Finding {
	wanted := map[uniqueKey]bool{}
	for _, u := range uses {
		wanted[u.key()] = true
	}
	if len(wanted) > 0 {
		uses = append(uses, c.valuesInOtherFiles(wanted, checked)...)
	}
	by := map[uniqueKey][]uniqueValue{}
	for _, u := range uses {
		if wanted[u.key()] {
			by[u.key()] = append(by[u.key()], u)
		}
	}
	var out []Finding
	for k, all := range by {
		if len(all) < 2 {
			continue
		}
		slices.SortFunc(all, func(a, b uniqueValue) int { return cmp.Compare(a.path, b.path) })
		message := fmt.Sprintf("the value %s of the field %s is repeated: %s", phrase.Cut(k.value, maxQuoted), k.field,
			listPaths(all))
		for _, u := range all {
			out = append(out, Finding{Section: Data, Path: u.path, Pointer: u.at, Rule: Duplicate, Message: message})
		}
	}
	return out
}

// listPaths lists the files of some values. It leaves out all but the first few.
func listPaths(all []uniqueValue) string {
	const most = 5
	var words []string
	for _, u := range all[:min(len(all), most)] {
		words = append(words, string(u.path))
	}
	if more := len(all) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// valuesInOtherFiles returns the wanted values in the files that were not checked.
func (c *checker) valuesInOtherFiles(wanted map[uniqueKey]bool, checked map[bundle.Path]bool) []uniqueValue {
	types := map[string]bool{}
	for k := range wanted {
		types[k.typ] = true
	}
	texts, search := searchTexts(wanted)
	holds := map[bundle.SchemaPath]bool{}
	var out []uniqueValue
	for _, f := range c.head.Datafiles() {
		may, known := holds[f.Schema]
		if !known {
			may = c.mayHaveType(f.Schema, types)
			holds[f.Schema] = may
		}
		if !may || checked[f.Path] {
			continue
		}
		if search {
			mayHold := false
			f.Peek(func(raw []byte) { mayHold = texts.mayBeIn(raw) })
			if !mayHold {
				continue
			}
		}
		w := &fileWalk{checker: c, path: f.Path, wantedTypes: types}
		w.visit(f.Decode(), typedPlace{typ: c.types.bySchema[f.Schema]})
		out = append(out, w.values...)
	}
	return out
}

// mayHaveType reports whether files with a schema may contain an object of one of the
// types.
func (c *checker) mayHaveType(s bundle.SchemaPath, types map[string]bool) bool {
	typ := c.types.bySchema[s]
	if typ == nil {
		return false
	}
	for name := range types {
		if c.types.canReach(typ, name) {
			return true
		}
	}
	return false
}

// A textSet is a set of texts without quotes.
type textSet struct {
	texts  map[string]bool
	shapes [1 << 16]bool // of the texts; saves looking most others up
}

// shapeOf returns the first byte of a text, and the last eight bits of its length.
func shapeOf[T string | []byte](text T) uint16 {
	if len(text) == 0 {
		return 0
	}
	return uint16(text[0])<<8 | uint16(len(text)&0xff)
}

// searchTexts returns the texts of which a file must contain at least one if it has a
// wanted value. It is not ok if a value could be written in another way in a file.
func searchTexts(wanted map[uniqueKey]bool) (all *textSet, ok bool) {
	all = &textSet{texts: map[string]bool{}}
	for k := range wanted {
		text, ok := strings.CutPrefix(k.value, `"`)
		text, isString := strings.CutSuffix(text, `"`)
		odd := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\/<>&`, r) }
		if !ok || !isString || strings.ContainsFunc(text, odd) {
			return nil, false
		}
		all.texts[text] = true
		all.shapes[shapeOf(text)] = true
	}
	return all, true
}

// mayBeIn reports whether one of the texts may be a string of a file. Each string is what
// stands between two quotes.
func (all *textSet) mayBeIn(raw []byte) bool {
	for text := range bytes.SplitSeq(raw, []byte{'"'}) {
		if all.shapes[shapeOf(text)] && all.texts[string(text)] {
			return true
		}
	}
	return false
}

// maxQuoted is the length in bytes up to which foreign text is quoted.
const maxQuoted = 80
