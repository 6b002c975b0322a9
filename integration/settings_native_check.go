package integration

import (
	"errors"
	"slices"
	"strings"
)

// CheckNatives returns the mistakes in the settings that only those who know the natives can
// find: a native that is not there, a key for natives at an integration that has none, and
// what a [Checker] says. The error joins one [SettingsError] per mistake.
func (s *Settings) CheckNatives(natives []DryRunner) error {
	r := &settingsReader{file: s.File}
	for _, name := range s.Names() {
		r.checkNative(s.For(name), natives)
	}
	return r.err()
}

// checkNative notes the mistakes of one integration.
func (r *settingsReader) checkNative(it Integration, natives []DryRunner) {
	at := "integrations." + it.Name
	n, ok := FindNative(natives, it)
	switch {
	case !ok && it.Native != "":
		known := nativeNames(natives)
		r.fail(it.nativeLine("native"), at+".native", "this program has no native integration %s%s; %s", quoteShort(it.Native), didYouMean(it.Native, known), listNatives(known))
		return
	case !ok:
		for _, key := range it.NativeKeys {
			r.fail(key.Line, at+"."+key.Name, "only a native integration uses this key, and %s is none; bind it to one with the key native", quoteShort(it.Name))
		}
		return
	}
	if it.Native != "" && len(it.Queries) > 0 && StateOf(n, it) != nil {
		r.fail(it.Queries[0].Line, at+".queries", "the native integration %s says itself what it wants, and a skip would depend on these queries instead: leave them out", quoteShort(n.Name()))
	}
	own := it.Own
	if own.IsZero() {
		own = OwnSettings{File: r.file, At: at + ".settings", Line: it.Line}
	}
	switch checker, ok := n.(Checker); {
	case ok:
		r.add(checker.CheckSettings(own), own)
	case !own.IsZero():
		r.fail(own.Line, own.At, "nobody reads this key: the native integration %s has no settings of its own", quoteShort(n.Name()))
	}
}

// add notes the mistakes that a [Checker] found in own settings. An error that does not know
// its line gets that of the settings.
func (r *settingsReader) add(err error, own OwnSettings) {
	var mistake *SettingsError
	joined, isJoined := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
	case isJoined:
		for _, e := range joined.Unwrap() {
			r.add(e, own)
		}
	case errors.As(err, &mistake):
		r.mistakes = append(r.mistakes, mistake)
	default:
		r.fail(own.Line, own.At, "%v", err)
	}
}

// nativeLine returns the line of a key that only natives use.
func (it Integration) nativeLine(key string) int {
	i := slices.IndexFunc(it.NativeKeys, func(k Name) bool { return k.Name == key })
	if i < 0 {
		return it.Line
	}
	return it.NativeKeys[i].Line
}

// nativeNames returns the names of natives, sorted.
func nativeNames(natives []DryRunner) []string {
	var names []string
	for _, n := range natives {
		names = append(names, n.Name())
	}
	slices.Sort(names)
	return names
}

// listNatives says which natives there are.
func listNatives(names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
