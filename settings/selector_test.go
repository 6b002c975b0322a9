package settings

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseSelector(t *testing.T) {
	field := func(name string) Step { return Step{Name: name} }
	items, members := Step{Kind: Items}, Step{Kind: Members}
	tests := []struct {
		text  string
		steps []Step
		owner int
	}{
		{"accounts[*].name", []Step{field("accounts"), items, field("name")}, 1},
		{"$.accounts[*].name", []Step{field("accounts"), items, field("name")}, 1},
		{"accounts.[*].name", []Step{field("accounts"), items, field("name")}, 1},
		{"roles[*].aws_groups[*].account.name", []Step{
			field("roles"), items, field("aws_groups"), items, field("account"), field("name"),
		}, 3},
		{"state.*.shard", []Step{field("state"), members, field("shard")}, 1},
		{"[*].name", []Step{items, field("name")}, 0},
		{"$[*].name", []Step{items, field("name")}, 0},
		{"*.name", []Step{members, field("name")}, 0},
		{"a[*][*].b", []Step{field("a"), items, items, field("b")}, 2},
		{"data.'main.yaml'[*].x", []Step{field("data"), field("main.yaml"), items, field("x")}, 2},
		{`data."it's".*.x`, []Step{field("data"), field("it's"), members, field("x")}, 2},
		{"a.'*'[*].b", []Step{field("a"), field("*"), items, field("b")}, 2},
		{"a[*].some-key", []Step{field("a"), items, field("some-key")}, 1},
		{"a[*].'größe'", []Step{field("a"), items, field("größe")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseSelector(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if want := (Selector{Text: tt.text, Steps: tt.steps}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got.OwnerIndex() != tt.owner {
				t.Errorf("Owner: got %d, want %d", got.OwnerIndex(), tt.owner)
			}
			if key := tt.steps[tt.owner+1:]; !reflect.DeepEqual(got.KeySteps(), key) {
				t.Errorf("Key: got %v, want %v", got.KeySteps(), key)
			}
		})
	}
}

func TestParseSelectorMistakes(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `selector "": is empty`},
		{"$", `selector "$": is empty`},
		{"$.", `selector "$.": is empty`},
		{"a", `selector "a": names no elements; it needs a wildcard, [*] for each item or * for each member`},
		{"a[*]", `selector "a[*]": ends with a wildcard; it needs the key below it, such as .name`},
		{"a.*", `selector "a.*": ends with a wildcard; it needs the key below it, such as .name`},
		{"a[*].", `selector "a[*].": ends with a dot`},
		{"a..b[*].c",
			`selector "a..b[*].c": has two dots in a row; a search at any depth is not supported, write the whole way`},
		{"a[0].b", `selector "a[0].b": position [0] is not supported, since an item is never known by its position; use [*]`},
		{"a[1:2].b",
			`selector "a[1:2].b": position [1:2] is not supported, since an item is never known by its position; use [*]`},
		{"a[?(@.b=='c')].d",
			`selector "a[?(@.b=='c')].d": filter [?(@.b=='c')] is not supported; use [*], which covers more`},
		{"a['b'].c", `selector "a['b'].c": unexpected ['b']; brackets hold only *, a name stands behind a dot`},
		{"a[].c", `selector "a[].c": unexpected []; brackets hold only *, a name stands behind a dot`},
		{"a[*.b", `selector "a[*.b": the bracket before "*.b" is never closed`},
		{"a.'b[*].c", `selector "a.'b[*].c": the quote before "b[*].c" is never closed`},
		{"a.''.c", `selector "a.''.c": has an empty name`},
		{"a b[*].c", `selector "a b[*].c": unexpected " b[*].c"; steps are parted by a dot, and unusual names are quoted`},
		{"ü[*].c", `selector "ü[*].c": unexpected "ü[*].c"; steps are parted by a dot, and unusual names are quoted`},
		{"a**.b", `selector "a**.b": unexpected "**.b"; steps are parted by a dot, and unusual names are quoted`},
		{strings.Repeat("a", 513), `selector "` + strings.Repeat("a", 80) + `"…: longer than 512 bytes`},
		{strings.Repeat("[*]", 33) + ".a", `selector "` + strings.Repeat("[*]", 26) + `[*"…: more than 32 steps`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseSelector(tt.text)
			if err == nil {
				t.Fatalf("parsed %+v", got)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

func FuzzParseSelector(f *testing.F) {
	for _, text := range []string{"a[*].b", "state.*.shard", "$.a.'b.c'[*].\"d'\"", "a[0].b", "[*].x", "a[?(@.b)].c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text)
		if err != nil {
			return
		}
		if s.OwnerIndex() < 0 || len(s.KeySteps()) == 0 {
			t.Errorf("%q: no owner or no key: %+v", text, s)
		}
		for _, step := range s.Steps {
			if (step.Kind == Field) != (step.Name != "") {
				t.Errorf("%q: step %+v", text, step)
			}
		}
	})
}
