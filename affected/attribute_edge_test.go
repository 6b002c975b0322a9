package affected

import (
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// An edge is one pair of states. Each state is one JSON text per document.
type edge struct {
	name       string
	selectors  string // parted by white space
	base, head []string
	order      settings.ListOrder
	want       Attribution
}

const terraformUsers = "accounts[*].name roles[*].aws_groups[*].account.name roles[*].user_policies[*].account.name"

func keys(k ...string) Attribution  { return Attribution{Keys: k} }
func full(why string) Attribution   { return Attribution{Why: why} }
func docs(texts ...string) []string { return texts }
func moved() Attribution {
	return full("the difference cannot be told apart by shard: elements moved or changed their order")
}
func outsideOf(n string) Attribution {
	return full("something that belongs to no single shard differs, in \"" + n + "\"")
}
func unusable(why string) Attribution { return full("an element at l[*] differs that " + why) }

var edges = []edge{
	{
		"a map of hashes", "state.*.shard",
		docs(`{"state":{"a":{"shard":"a","hash":"1"},"b":{"shard":"b","hash":"1"}}}`),
		docs(`{"state":{"b":{"shard":"b","hash":"2"},"a":{"shard":"a","hash":"1"}}}`), 0,
		keys("b"),
	},
	{
		"a member with another name", "state.*.shard",
		docs(`{"state":{"one":{"shard":"a"},"b":{"shard":"b"}}}`),
		docs(`{"state":{"two":{"shard":"a"},"b":{"shard":"b"}}}`), 0,
		keys("a"),
	},
	{
		"a map of lists, which never shards", "state.*.shard",
		docs(`{"namespace":[{"shard":"a","v":1}]}`), docs(`{"namespace":[{"shard":"a","v":2}]}`), 0,
		outsideOf("namespace"),
	},
	{
		"an account", terraformUsers,
		docs(`{"accounts":[{"name":"a"},{"name":"b"}],"roles":[{"name":"r","aws_groups":[{"account":{"name":"a"}}],"user_policies":null}]}`),
		docs(`{"accounts":[{"name":"a"},{"name":"b","uid":"1"}],"roles":[{"name":"r","aws_groups":[{"account":{"name":"a"}}],"user_policies":null}]}`), 0,
		keys("b"),
	},
	{
		"a role with groups and policies", terraformUsers,
		docs(`{"roles":[{"name":"r","aws_groups":[{"account":{"name":"a"}}],"user_policies":[{"account":{"name":"b"}}]},{"name":"s","aws_groups":[{"account":{"name":"c"}}]}]}`),
		docs(`{"roles":[{"name":"q","aws_groups":[{"account":{"name":"a"}}],"user_policies":[{"account":{"name":"b"}}]},{"name":"s","aws_groups":[{"account":{"name":"c"}}]}]}`), 0,
		keys("a", "b"),
	},
	{
		"a policy", terraformUsers,
		docs(`{"roles":[{"aws_groups":[{"account":{"name":"a"}}],"user_policies":[{"account":{"name":"b"},"p":1}]}]}`),
		docs(`{"roles":[{"aws_groups":[{"account":{"name":"a"}}],"user_policies":[{"account":{"name":"b"},"p":2}]}]}`), 0,
		keys("b"),
	},
	{
		"a group becomes a policy", terraformUsers,
		docs(`{"roles":[{"aws_groups":[{"account":{"name":"a"}}],"user_policies":[]}]}`),
		docs(`{"roles":[{"aws_groups":[],"user_policies":[{"account":{"name":"a"}}]}]}`), 0,
		keys("a"),
	},
	{
		"a role without any key belongs to every key", terraformUsers,
		docs(`{"roles":[{"name":"r","aws_groups":[]},{"aws_groups":[{"account":{"name":"a"},"v":1}]}]}`),
		docs(`{"roles":[{"name":"q","aws_groups":[]},{"aws_groups":[{"account":{"name":"a"},"v":2}]}]}`), 0,
		outsideOf("roles"),
	},
	{
		"the inner of two owners", "clusters[*].name clusters[*].namespaces[*].team",
		docs(`{"clusters":[{"name":"c","namespaces":[{"team":"t","v":1},{"team":"u"}]},{"name":"d"}]}`),
		docs(`{"clusters":[{"name":"c","namespaces":[{"team":"t","v":2},{"team":"u"}]},{"name":"d"}]}`), 0,
		keys("c", "t"),
	},
	{
		"the outer of two owners", "clusters[*].name clusters[*].namespaces[*].team",
		docs(`{"clusters":[{"name":"c","v":1,"namespaces":[{"team":"t"}]},{"name":"d","namespaces":[{"team":"u"}]}]}`),
		docs(`{"clusters":[{"name":"c","v":2,"namespaces":[{"team":"t"}]},{"name":"d","namespaces":[{"team":"u"}]}]}`), 0,
		keys("c", "t"),
	},
	{
		"two keys of one element", "pairs[*].from pairs[*].to",
		docs(`{"pairs":[{"from":"a","to":"b","v":1},{"from":"b","to":"c"},{"from":"d","to":"d"}]}`),
		docs(`{"pairs":[{"from":"a","to":"b","v":2},{"from":"b","to":"c"},{"from":"d","to":"d"}]}`), 0,
		keys("a", "b"),
	},
	{
		"the same content under two roots", "one[*].k two[*].k",
		docs(`{"one":[{"k":"a"}],"two":[{"k":"b"}]}`), docs(`{"one":[],"two":[{"k":"b"},{"k":"a"}]}`), 0,
		keys("a"),
	},
	{
		"two ways that look alike", "a.b[*].k 'a.b'[*].k",
		docs(`{"a":{"b":[]},"a.b":[{"k":"x"}]}`), docs(`{"a":{"b":[{"k":"x"}]},"a.b":[]}`), 0,
		keys("x"),
	},
	{
		"from one document to another", "l[*].k",
		docs(`{"l":[{"k":"a"},{"k":"b"}]}`, `{"l":[]}`), docs(`{"l":[{"k":"b"}]}`, `{"l":[{"k":"a"}]}`), 0,
		keys("a"),
	},
	{
		"a document more", "l[*].k",
		docs(`{"l":[{"k":"a"}]}`), docs(`{"l":[{"k":"a"}]}`, `{}`), 0,
		full("something that belongs to no single shard differs"),
	},
	{
		"another type of document", "[*].k",
		docs(`[]`), docs(`{}`), 0,
		full("something that belongs to no single shard differs"),
	},
	{
		"items at the root", "[*].k",
		docs(`[{"k":"a","v":1},{"k":"b"}]`), docs(`[{"k":"b"},{"k":"a","v":2}]`), 0,
		keys("a"),
	},
	{
		"no selectors", "",
		docs(`{"l":1}`), docs(`{"l":2}`), 0,
		full("it has no shards"),
	},
	{
		"from one parent to another that looks the same", "p[*].l[*].k",
		docs(`{"p":[{"l":[{"k":"a"},{"k":"b"}]},{"l":[{"k":"c"}]}]}`),
		docs(`{"p":[{"l":[{"k":"a"}]},{"l":[{"k":"c"},{"k":"b"}]}]}`), 0,
		moved(),
	},
	{
		"how often an element occurs", "l[*].k",
		docs(`{"l":[{"k":"a"},{"k":"a"},{"k":"b"}]}`), docs(`{"l":[{"k":"a"},{"k":"b"},{"k":"b"}]}`), 0,
		keys("a", "b"),
	},
	{
		"null is not missing", "l[*].k",
		docs(`{"l":[{"k":"a","v":null}]}`), docs(`{"l":[{"k":"a"}]}`), 0,
		keys("a"),
	},
	{
		"numbers as written", "l[*].k",
		docs(`{"l":[{"k":"a","v":1}]}`), docs(`{"l":[{"k":"a","v":1.0}]}`), 0,
		keys("a"),
	},
	{
		"order of keys where order counts", "l[*].k m.*.k",
		docs(`{"l":[{"k":"a","v":1}],"m":{"x":{"k":"a"},"y":{"k":"b"}}}`),
		docs(`{"m":{"y":{"k":"b"},"x":{"k":"a"}},"l":[{"v":1,"k":"a"}]}`), settings.OrderSignificant,
		Attribution{Same: true},
	},
	{
		"order inside an element", "l[*].k",
		docs(`{"l":[{"k":"a","v":[1,2]},{"k":"b"}]}`), docs(`{"l":[{"k":"a","v":[2,1]},{"k":"b"}]}`),
		settings.OrderSignificant,
		keys("a"),
	},
	{
		"order of unaffected elements", "l[*].k",
		docs(`{"l":[{"k":"a"},{"k":"b"},{"k":"c","v":1}]}`), docs(`{"l":[{"k":"b"},{"k":"a"},{"k":"c","v":2}]}`),
		settings.OrderSignificant,
		moved(),
	},
	{
		"order of elements of one key", "l[*].k",
		docs(`{"l":[{"k":"a","v":1},{"k":"b"},{"k":"a","v":2}]}`), docs(`{"l":[{"k":"a","v":2},{"k":"b"},{"k":"a","v":1}]}`),
		settings.OrderSignificant,
		keys("a"),
	},
	{
		"an element passes one that belongs to every key", "l[*].m[*].k",
		docs(`{"l":[{"m":[]},{"m":[{"k":"a"}]},{"m":[{"k":"b"}]}]}`),
		docs(`{"l":[{"m":[{"k":"a"}]},{"m":[]},{"m":[{"k":"b"}]}]}`), settings.OrderSignificant,
		keys("a"),
	},
	{
		"an element passes one that every key sees", "r[*].g[*].k",
		docs(`{"r":[{"g":[{"k":"b"},{"k":null}]},{"g":[{"k":"a"}]}]}`),
		docs(`{"r":[{"g":[{"k":"a"}]},{"g":[{"k":"b"},{"k":null}]}]}`), settings.OrderSignificant,
		keys("a"),
	},
	{
		"an element of two keys passes another", "pairs[*].from pairs[*].to",
		docs(`{"pairs":[{"from":"a","to":"b"},{"from":"c","to":"c"},{"from":"a","to":"a","v":1}]}`),
		docs(`{"pairs":[{"from":"c","to":"c"},{"from":"a","to":"b"},{"from":"a","to":"a","v":2}]}`),
		settings.OrderSignificant,
		moved(),
	},
	{
		"an unusable element around which something changes", "r[*].g[*].k",
		docs(`{"r":[{"v":1,"g":[{"k":"a"},{"k":null}]}]}`), docs(`{"r":[{"v":2,"g":[{"k":"a"},{"k":null}]}]}`), 0,
		full("an element at r[*].g[*] differs that has a key that is no string"),
	},
	{
		"an unusable element beside another change", "r[*].g[*].k",
		docs(`{"r":[{"g":[{"k":"a"},{"k":null}]},{"g":[{"k":"b","v":1}]}]}`),
		docs(`{"r":[{"g":[{"k":"a"},{"k":null}]},{"g":[{"k":"b","v":2}]}]}`), 0,
		keys("b"),
	},
	{
		"an unusable element between parents", "o[*].r[*].g[*].k",
		docs(`{"o":[{"r":[{"g":[{"k":"a","v":1},{"k":null}]},{"g":[{"k":"b"}]}]},{"r":[{"g":[{"k":"c"}]}]}]}`),
		docs(`{"o":[{"r":[{"g":[{"k":"b"}]}]},{"r":[{"g":[{"k":"a","v":2},{"k":null}]},{"g":[{"k":"c"}]}]}]}`), 0,
		moved(),
	},
	{
		"the right one of two unusable elements", "l[*].k m[*].k",
		docs(`{"l":[{"k":7}],"m":[{"k":"","v":1}]}`), docs(`{"l":[{"k":7}],"m":[{"k":"","v":2}]}`), 0,
		full("an element at m[*] differs that has an empty key"),
	},
	{"a null key", "l[*].k", docs(`{"l":[{"k":null}]}`), docs(`{"l":[]}`), 0, unusable("has a key that is no string")},
	{"a number", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":7}]}`), 0, unusable("has a key that is no string")},
	{"no key", "l[*].k.n", docs(`{"l":[]}`), docs(`{"l":[{"k":{}}]}`), 0, unusable(`has no "n"`)},
	{"no element", "l[*].k.n", docs(`{"l":[]}`), docs(`{"l":[null]}`), 0, unusable(`has no "k"`)},
	{"an empty key", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":""}]}`), 0, unusable("has an empty key")},
	{"a dash", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"--all"}]}`), 0,
		unusable(`has a key that begins with a dash and would be taken for an option: "--all"`)},
	{"braces", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"{config}"}]}`), 0,
		unusable(`has a key with braces or control characters: "{config}"`)},
	{"a new line", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"a\nb"}]}`), 0,
		unusable(`has a key with braces or control characters: "a\nb"`)},
	{"a zero byte", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"\u0000"}]}`), 0,
		unusable(`has a key with braces or control characters: "\x00"`)},
	{"half a surrogate", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"\ud800"}]}`), 0,
		unusable(`has a key with braces or control characters: "\xed\xa0\x80"`)},
	{"a long key", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"` + strings.Repeat("k", 254) + `"}]}`), 0,
		unusable("has a key longer than 253 bytes")},
	{"the longest key", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"` + strings.Repeat("k", 253) + `"}]}`), 0,
		keys(strings.Repeat("k", 253))},
	{"spaces and letters of all kinds", "l[*].k", docs(`{"l":[]}`), docs(`{"l":[{"k":"é a/b"}]}`), 0, keys("é a/b")},
}

func TestAttributeEdges(t *testing.T) {
	for _, c := range edges {
		t.Run(c.name, func(t *testing.T) {
			by := selectors(t, strings.Fields(c.selectors)...)
			base, head := documents(t, c.base), documents(t, c.head)
			if got := Attribute(base, head, by, c.order); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got := Attribute(head, base, by, c.order); !reflect.DeepEqual(got.Keys, c.want.Keys) {
				t.Errorf("back: got %+v, want %+v", got, c.want)
			}
			for _, state := range [][]any{base, head} {
				if got := Attribute(state, state, by, c.order); !reflect.DeepEqual(got, Attribution{Same: true}) {
					t.Errorf("with itself: got %+v, want same", got)
				}
			}
		})
	}
}

func documents(t *testing.T, texts []string) []any {
	t.Helper()
	var out []any
	for _, text := range texts {
		v, err := bundle.ParseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}
