package settings

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Name string
	Port uint16 `yaml:"port"`
}

type outer struct {
	Text    string
	Yes     bool
	Count   int8
	Share   float64
	Wait    time.Duration     `yaml:"wait"`
	Inner   inner             `yaml:"in"`
	List    []inner           `yaml:"list"`
	Map     map[string]*inner `yaml:"map"`
	Pointer *inner            `yaml:"pointer"`
	Number  *int              `yaml:"number"`
	Any     any               `yaml:"any"`
	Address netip.Addr        `yaml:"address"`
	Kinds   map[kind][]string `yaml:"kinds"`
	Skipped string            `yaml:"-"`
	Wrong   chan int          `yaml:"wrong"`
	ByInt   map[int]string    `yaml:"by_int"`
	hidden  string
}

type kind string

// own returns settings of an integration; they begin on line 5.
func own(t *testing.T, text string) Own {
	t.Helper()
	return read(t, "version: 1\nintegrations:\n  a:\n    settings:\n"+indent("      ", text)).For("a").Own
}

func TestDecode(t *testing.T) {
	seven := 7
	for _, c := range []struct {
		name, text string
		want       outer
	}{
		{"nothing", "{}", outer{}},
		{"scalars", "text: a\nyes: true\ncount: -128\nshare: 0.5\nwait: 10m",
			outer{Text: "a", Yes: true, Count: -128, Share: 0.5, Wait: 10 * time.Minute}},
		{"a whole number as share", "share: 2", outer{Share: 2}},
		{"a day as text", "text: 2026-01-31", outer{Text: "2026-01-31"}},
		{"a struct", "in: {name: x, port: 65535}", outer{Inner: inner{"x", 65535}}},
		{"a list", "list: [{name: x}, {port: 1}]", outer{List: []inner{{Name: "x"}, {Port: 1}}}},
		{"an empty list", "list: []", outer{List: []inner{}}},
		{"a map", "map: {a: {name: x}, b.c: {}}", outer{Map: map[string]*inner{"a": {Name: "x"}, "b.c": {}}}},
		{"keys of a type", "kinds: {k: [a, b]}", outer{Kinds: map[kind][]string{"k": {"a", "b"}}}},
		{"pointers", "pointer: {port: 1}\nnumber: 7", outer{Pointer: &inner{Port: 1}, Number: &seven}},
		{"anything", "any: [1, 1.5, x, true, null, {a: 2026-01-31}]",
			outer{Any: []any{1, 1.5, "x", true, nil, map[string]any{"a": "2026-01-31"}}}},
		{"nothing as anything", "any:", outer{}},
		{"what reads its own text", "address: 10.0.0.1", outer{Address: netip.MustParseAddr("10.0.0.1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got outer
			if err := own(t, c.text).Decode(&got); err != nil || !reflect.DeepEqual(got, c.want) || got.hidden != "" {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

// TestDecodeEmbedded holds that the keys of an embedded struct stand beside the others.
func TestDecodeEmbedded(t *testing.T) {
	var into struct {
		Shared
		Wait time.Duration `yaml:"wait"`
	}
	if err := own(t, "hosts: [a, b]\nwait: 10m").Decode(&into); err != nil || len(into.Hosts) != 2 ||
		into.Wait != 10*time.Minute {
		t.Errorf("got %+v, %v", into, err)
	}
	if err := own(t, "host: [a]").Decode(&into); err == nil || !strings.Contains(err.Error(), "host") {
		t.Errorf("got %v, want an unknown key", err)
	}
}

// Shared are settings that several natives have.
type Shared struct {
	Hosts []string `yaml:"hosts"`
}

func TestDecodeMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "txt: a", `5: unknown key "txt" (did you mean "text"?)`},
		{"unknown key below", "in:\n  name: x\n  prot: 1", `7: .in: unknown key "prot" (did you mean "port"?)`},
		{"unknown key in a list", "list:\n  - name: x\n  - naem: y",
			`7: .list[1]: unknown key "naem" (did you mean "name"?)`},
		{"unknown key in a map", "map:\n  a b: {x: 1}", `6: .map.a b: unknown key "x"`},
		{"skipped key", "skipped: a", `5: unknown key "skipped"`},
		{"hidden key", "hidden: a", `5: unknown key "hidden"`},
		{"number as text", "text: 1", `5: .text: must be a string, got the number "1"; put it in quotes`},
		{"text as number", "count: 'a'", `5: .count: must be a whole number, got the string "a"`},
		{"too large", "count: 128", "5: .count: must be from -128 to 127, got 128"},
		{"too large for a port", "in: {port: 65536}", "5: .in.port: must be from 0 to 65535, got 65536"},
		{"negative port", "in: {port: -1}", "5: .in.port: must be from 0 to 65535, got -1"},
		{"number as truth", "yes: 1", `5: .yes: must be true or false, got the number "1"`},
		{"word as truth", "yes: on", `5: .yes: must be true or false, got the string "on"`},
		{"text as share", "share: '0.5'", `5: .share: must be a number, got the string "0.5"`},
		{"duration without a unit", "wait: 10", `5: .wait: must be a duration such as 90s or 10m, got the number "10"`},
		{"duration as list", "wait: [10m]", `5: .wait: must be a duration such as 90s or 10m, got a list`},
		{"list as struct", "in: []", "5: .in: must be a mapping, got a list"},
		{"struct as list", "list: {name: x}", "5: .list: must be a list, got a mapping"},
		{"text as map", "map: x", `5: .map: must be a mapping, got the string "x"`},
		{"nothing as pointer", "pointer:", "5: .pointer: must be a mapping, got nothing"},
		{"nothing as text", "text:", "5: .text: must be a string, got nothing; put it in quotes"},
		{"no address", "address: here", `5: .address: ParseAddr("here"): unable to parse IP`},
		{"a field that cannot be read", "wrong: 1", "5: .wrong: cannot be read into a chan int"},
		{"keys that cannot be read", "by_int: {}",
			"5: .by_int: cannot be read into a map[int]string: its keys are no strings"},
		{"several", "text: 1\ncount: x",
			"5: .text: must be a string, got the number \"1\"; put it in quotes\n6: .count: must be a whole number, got the string \"x\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := own(t, c.text).Decode(new(outer))
			var want []string
			for line := range strings.SplitSeq(c.want, "\n") {
				number, text, _ := strings.Cut(line, ": ")
				if text[0] != '.' {
					text = ": " + text
				}
				want = append(want, "prcheck.yaml:"+number+": integrations.a.settings"+text)
			}
			if got := textOf(err); got != strings.Join(want, "\n") {
				t.Errorf("got  %s\nwant %s", got, strings.Join(want, "\n"))
			}
			var mistake *Error
			if !errors.As(err, &mistake) || mistake.File != "prcheck.yaml" {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestDecodeIntoNothing(t *testing.T) {
	for name, into := range map[string]any{"nil": nil, "no pointer": outer{}, "nil pointer": (*outer)(nil),
		"pointer to a number": new(int)} {
		if err := own(t, "text: a").Decode(into); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	got := outer{Text: "default", Count: 3}
	if err := own(t, "count: 4").Decode(&got); err != nil || !reflect.DeepEqual(got, outer{Text: "default", Count: 4}) {
		t.Errorf("defaults: got %+v, %v", got, err)
	}
	if err := (Own{}).Decode(&got); err != nil || got.Text != "default" {
		t.Errorf("no settings: got %+v, %v", got, err)
	}
}

func TestMistake(t *testing.T) {
	s := own(t, "a:\n  - b: 1\n  - b: 2\nc: 3")
	for _, c := range []struct {
		path []string
		want string
	}{
		{nil, "prcheck.yaml:5: integrations.a.settings: is wrong"},
		{[]string{"c"}, "prcheck.yaml:8: integrations.a.settings.c: is wrong"},
		{[]string{"a", "1", "b"}, "prcheck.yaml:7: integrations.a.settings.a[1].b: is wrong"},
		{[]string{"a", "2", "b"}, "prcheck.yaml:6: integrations.a.settings.a[2].b: is wrong"},
		{[]string{"d"}, "prcheck.yaml:5: integrations.a.settings.d: is wrong"},
	} {
		if got := s.Mistake("is wrong", c.path...).Error(); got != c.want {
			t.Errorf("%q: got %s, want %s", c.path, got, c.want)
		}
	}
}

// textOf returns the message of an error, "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
