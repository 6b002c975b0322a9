package effects

import (
	"strings"
	"testing"
)

func TestReadPython(t *testing.T) {
	for text, want := range map[string]string{
		`['a', "b'c", 'd"e\'f', 3, None]`:                  `a|b'c|d"e'f|3|None`,
		`['x\\y', '\x41\u00e9\U0001f600', '\q']`:           `x\y|Aé😀|\q`,
		`[b'\x41\u00e9', u'b']`:                            `A\u00e9|b`,
		`[[1, ['a']], (1,), {'a': 1}, {1, 2}]`:             `[1, ['a']]|(1,)|{'a': 1}|{1, 2}`,
		`[<Foo object at 0x7f>, <A.B: 'c'>]`:               `<Foo object at 0x7f>|c`,
		`[OrderedDict({'a': 1}), f(), x.Y(a=[1], b='c)')]`: `OrderedDict({'a': 1})|f()|x.Y(a=[1], b='c)')`,
		`[az09AZ_.+-é, -1.5e+9]`:                           `az09AZ_.+-é|-1.5e+9`,
		`[]`:                                               "",
		`[ 1 , ]`:                                          "1",
		`['a'`:                                             "!", `['a]`: "!", `['a',,]`: "!", `['a'] x`: "!", `[a b]`: "!",
		``: "!", `['\`: "!", `[{'a': }]`: "!", `[<a]`: "!", `[f(]`: "!", `[a~b]`: "!", `[a/b]`: "!", `[{'a': 1 'b': 2}]`: "!",
		`[{1 2}]`: "!", `[f(1 2)]`: "!", `[1 2]`: "!",
	} {
		got := "!"
		if v, ok := readPython(text); ok {
			var words []string
			for _, item := range v.items {
				words = append(words, item.text)
			}
			got = strings.Join(words, "|")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for depth, want := range map[int]bool{21: true, 22: false} {
		if _, ok := readPython(strings.Repeat("[", depth) + strings.Repeat("]", depth)); ok != want {
			t.Errorf("%d lists: read is %v, want %v", depth, ok, want)
		}
	}
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	if _, ok := readPython(deep); ok {
		t.Error("a list a thousand levels deep was read")
	}
}

// Reading ends, never panics, and gives back what a simple list of strings holds.
func FuzzReadPython(f *testing.F) {
	for _, seed := range []string{`['a', "b"]`, `[1, {'a': (1,)}]`, `['\x4`, `[<a: 'b'>]`, `[f(a=1)]`, "['\xff']"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v, ok := readPython(text); ok && !v.isText && v.text == "" {
			t.Errorf("%q was read as nothing", text)
		}
		quoted := "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "']"
		v, ok := readPython(quoted)
		if !ok || len(v.items) != 1 || v.items[0].text != text {
			t.Errorf("%q: got %+v, %v", quoted, v, ok)
		}
		found := newCollection(func(s string) string { return s })
		reconcile{}.read("[2026-11-20 10:00:01] [INFO] [DRY-RUN] [a.py:b:1] - "+text, false, found)
		if len(found.items) > 1 {
			t.Errorf("%q announces %d effects", text, len(found.items))
		}
	})
}
