package integration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/settings"
)

// CheckNatives returns the mistakes in the settings that only those who know the natives can
// find: a native that is not there, a key for natives at an integration that has none, and
// what a [Checker] says. The error joins one [settings.Error] per mistake.
func CheckNatives(s *settings.Settings, natives []DryRunner) error {
	found := &settings.Mistakes{File: s.File}
	for _, name := range s.Names() {
		checkNative(s.For(name), natives, found)
	}
	return found.Err()
}

// checkNative notes the mistakes of one integration.
func checkNative(it settings.Integration, natives []DryRunner, found *settings.Mistakes) {
	at := "integrations." + it.Name
	n, ok := FindNative(natives, it)
	switch {
	case !ok && it.Native != "":
		found.Add(nativeLine(it, "native"), at+".native",
			"this program has no native integration "+unknownNative(it.Native, natives))
		return
	case !ok:
		for _, key := range it.NativeKeys {
			found.Add(key.Line, at+"."+key.Name,
				fmt.Sprintf("only a native integration uses this key, and %s is none; bind it to one with the key native",
					phrase.Quote(it.Name)))
		}
		return
	}
	if it.Native != "" && len(it.Queries) > 0 && StateOf(n, it) != nil {
		found.Add(it.Queries[0].Line, at+".queries",
			fmt.Sprintf("the native integration %s says itself what it wants, and a skip would depend on these queries "+
				"instead: leave them out", phrase.Quote(n.Name())))
	}
	own := it.Own
	if own.IsZero() {
		own = settings.Own{File: found.File, At: at + ".settings", Line: it.Line}
	}
	switch checker, ok := n.(Checker); {
	case ok:
		found.AddOwn(own, checker.CheckSettings(own))
	case !own.IsZero():
		found.Add(own.Line, own.At, fmt.Sprintf("nobody reads this key: the native integration %s has no settings of its own",
			phrase.Quote(n.Name())))
	}
}

// nativeLine returns the line of a key that only natives use.
func nativeLine(it settings.Integration, key string) int {
	i := slices.IndexFunc(it.NativeKeys, func(k settings.Name) bool { return k.Name == key })
	if i < 0 {
		return it.Line
	}
	return it.NativeKeys[i].Line
}

// unknownNative quotes the name of a native that is not there, and says which natives there are.
func unknownNative(name string, natives []DryRunner) string {
	var known []string
	for _, n := range natives {
		known = append(known, n.Name())
	}
	slices.Sort(known)
	text := phrase.Quote(name) + suggest.Hint(name, known)
	if len(known) == 0 {
		return text + "; it has none"
	}
	return text + "; it has " + strings.Join(known, ", ")
}
