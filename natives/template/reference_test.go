package template

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"
)

// The grammars of references, as OpenShift has them.
var (
	grammar      = regexp.MustCompile(`\$\{([a-zA-Z0-9_]+)\}`)
	wholeGrammar = regexp.MustCompile(`^\$\{\{([a-zA-Z0-9_]+)\}\}$`)
)

func TestNamesFollowTheGrammar(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []string{"$", "{", "}", "${", "}", "A", "_9", "-", "\n"}
	for range 20000 {
		text := ""
		for range rng.IntN(10) {
			text += letters[rng.IntN(len(letters))]
		}
		var want []string
		if found := wholeGrammar.FindStringSubmatch(text); found != nil {
			want = found[1:]
		} else {
			for _, found := range grammar.FindAllStringSubmatch(text, -1) {
				want = append(want, found[1])
			}
		}
		if got := Names(text); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
		if got := fillText(text); got != grammar.ReplaceAllStringFunc(text, func(string) string { return "!" }) &&
			len(want) > 0 && wholeGrammar.FindString(text) == "" {
			t.Fatalf("%q: got %q", text, got)
		}
	}
}

// fillText fills in a "!" for each name.
func fillText(text string) string {
	values := map[string]string{}
	for _, name := range Names(text) {
		values[name] = "!"
	}
	f := filler{values: values, left: maxFilled}
	return f.text(text)
}
