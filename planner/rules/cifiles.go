package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// maxCIFiles bounds how many edited CI files are named.
const maxCIFiles = 5

// usualCIFile is the CI file of a project that names none.
const usualCIFile = ".gitlab-ci.yml"

// findCIFiles notes the CI files that head edits. They cannot change what is planned, but
// they decide whether anything is planned at all, so everything runs in full.
func (f *finder) findCIFiles() {
	mentioned := f.mentionedByCI(cmp.Or(f.CIFile, usualCIFile))
	var edited []string
	for p := range f.changed {
		if p == f.CIFile || mentioned[p] || f.Settings.IsCIFile(p) || f.other != nil && f.other.IsCIFile(p) {
			edited = append(edited, printable(p))
		}
	}
	if len(edited) == 0 {
		return
	}
	slices.Sort(edited)
	f.general = append(f.general, edited[0])
	if n := len(edited) - maxCIFiles; n > 0 {
		edited = append(edited[:maxCIFiles], fmt.Sprintf("%d more", n))
	}
	f.note("head edits %s, which decides whether and how these checks are started: read that edit before you trust the "+
		"result; everything runs in full", strings.Join(edited, ", "))
}

// mentionedByCI returns the paths that the text of base's CI file mentions: files that it
// includes, and scripts that its jobs start. The file is not read as GitLab would read it: a
// path too many runs too much, which is only slow.
func (f *finder) mentionedByCI(name string) map[string]bool {
	raw, err := f.ReadBase(name)
	if err != nil {
		return nil
	}
	mentioned := map[string]bool{}
	for word := range strings.FieldsFuncSeq(string(raw), func(c rune) bool {
		return !strings.ContainsRune("/._-+@~", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		mentioned[strings.TrimPrefix(path.Clean("/"+word), "/")] = true
	}
	delete(mentioned, f.Settings.Path) // it is compared key by key
	return mentioned
}
