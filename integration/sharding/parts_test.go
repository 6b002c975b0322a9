package sharding_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// deployed returns a bundle with two clusters and the definition of "it" with the given
// elements of managed.
func deployed(t *testing.T, managed, more string) (integration.Definition, *bundle.Bundle) {
	t.Helper()
	b, err := bundle.Parse([]byte(`{"data":{
		"/it.yml":{"$schema":"/app-sre/integration-1.yml","name":"it","managed":`+managed+`},`+more+`
		"/c/one.yml":{"$schema":"/openshift/cluster-1.yml","name":"one"},
		"/c/two.yml":{"$schema":"/openshift/cluster-1.yml","name":"two"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := integration.List(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all[0], b
}

func TestDeclaredStrategy(t *testing.T) {
	by := func(word string) string { return `{"sharding":{"strategy":"` + word + `"}}` }
	for _, c := range []struct{ managed, want, why string }{
		{`null`, "", "its definition names no sharding strategy"},
		{`{"sharding":{"strategy":"static"}}`, "", "its definition names no sharding strategy"},
		{`[]`, "", "its definition names no sharding strategy"},
		{`[null,7,{}]`, "", "its definition names no sharding strategy"},
		{`[` + by("static") + `]`, "static", ""},
		{`[` + by("per-openshift-cluster") + `,` + by("per-openshift-cluster") + `]`, "per-openshift-cluster", ""},
		{`[` + by("per-aws-account") + `,` + by("static") + `]`, "",
			`its definition names the sharding strategies "per-aws-account" and "static"`},
		{`[` + by("per-aws-account") + `,{}]`, "",
			`its definition deploys it as a whole, too, not only by the sharding strategy "per-aws-account"`},
		{`[` + by("managed") + `]`, "", `its definition names the sharding strategy "managed", which is not known`},
	} {
		d, _ := deployed(t, c.managed, "")
		got, err := sharding.DeclaredStrategy(d.Managed())
		if got.String() != c.want || (err == nil) != (c.why == "") || err != nil && err.Error() != c.why {
			t.Errorf("%s: got %q, %v, want %q, %s", c.managed, got, err, c.want, c.why)
		}
	}
	if _, err := sharding.DeclaredStrategy(nil); err == nil {
		t.Error("no definition declares something")
	}
}

// The overrides that several elements of managed have for a shard are combined.
func TestListParts(t *testing.T) {
	clusters := func(overrides ...string) string {
		return `{"sharding":{"strategy":"per-openshift-cluster","shardSpecOverrides":[` + strings.Join(overrides, ",") + `]}}`
	}
	one := func(more string) string { return `{"shard":{"$ref":"/c/one.yml"},` + more + `}` }
	static := func(n int) string { return fmt.Sprintf(`"subSharding":{"strategy":"static","shards":%d}`, n) }
	for _, c := range []struct{ name, managed, more, want string }{
		{"nothing special", clusters(), "", "one 1 , two 1 "},
		{"image", clusters(one(`"imageRef":"a"`)), "", "one 1 a, two 1 "},
		{"image in one place", clusters(one(`"imageRef":"a"`)) + "," + clusters(), "", "one 1 a, two 1 "},
		{"the same image twice", clusters(one(`"imageRef":"a"`)) + "," + clusters(one(`"imageRef":"a"`)), "",
			"one 1 a, two 1 "},
		{"two images", clusters(one(`"imageRef":"a"`)) + "," + clusters(one(`"imageRef":"b"`)), "",
			`its definition gives its shard "one" the image "a", and "b"`},
		{"no image", clusters(one(`"imageRef":7`)), "", "one 1 , two 1 "},
		{"image here, number there", clusters(one(`"imageRef":"a"`)) + "," + clusters(one(static(3))), "", "one 3 a, two 1 "},
		{"two numbers", clusters(one(static(2))) + "," + clusters(one(static(3))), "",
			`its definition gives its shard "one" 2 static shards, and 3`},
		{"the last override of one element", clusters(one(`"imageRef":"a"`), one(static(2))), "", "one 2 , two 1 "},
		{"of another strategy", `{"sharding":{"strategy":"per-aws-account","shardSpecOverrides":[` + one(`"imageRef":"a"`) +
			`]}}`, "", "one 1 , two 1 "},
		{"two objects of one name", clusters(one(`"imageRef":"a"`)),
			`"/c/twin.yml":{"$schema":"/openshift/cluster-1.yml","name":"one"},`, "one 1 a, two 1 "},
		{"no key", clusters(), `"/c/none.yml":{"$schema":"/openshift/cluster-1.yml"},`,
			"/c/none.yml has no name to be a shard by"},
	} {
		d, b := deployed(t, "["+c.managed+"]", c.more)
		parts, err := sharding.ListParts("it", settings.PerOpenShiftCluster, d.Managed(), sharding.InBundle(b),
			sharding.InBundle(b))
		var words []string
		for _, p := range parts {
			words = append(words, fmt.Sprintf("%s %d %s", p.Key, p.Static, p.Image))
		}
		got := strings.Join(words, ", ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestOverrideImages(t *testing.T) {
	d, _ := deployed(t,
		`[null,{},{"sharding":{"shardSpecOverrides":7}},{"sharding":{"shardSpecOverrides":[null,{"imageRef":"b"},{"imageRef":7},{"imageRef":""},{"imageRef":"a"}]}},
		{"sharding":{"shardSpecOverrides":[{"imageRef":"b"}]}}]`, "")
	if got, want := sharding.OverrideImages(d.Managed()), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// For every definition: each part is listed once, the number of parts is bounded, and each
// key can be an argument.
func FuzzDivide(f *testing.F) {
	for _, seed := range []string{
		`[{"sharding":{"strategy":"per-openshift-cluster","shardSpecOverrides":[{"shard":{"$ref":"/c/one.yml"},"imageRef":"a","subSharding":{"strategy":"static","shards":2}}]}}]`,
		`[{"sharding":{"strategy":"static","shards":3}},{"sharding":{"strategy":"static","shards":"3"}}]`,
		`[{"sharding":{"strategy":"static","shards":-1}}]`, `[null,7,{"sharding":[]},{"sharding":{"shardSpecOverrides":{}}}]`,
		`{}`, `null`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, managed string) {
		b, err := bundle.Parse([]byte(`{"data":{
			"/it.yml":{"$schema":"/app-sre/integration-1.yml","name":"it","managed":`+managed+`},
			"/c/one.yml":{"$schema":"/openshift/cluster-1.yml","name":"one"},
			"/c/two.yml":{"$schema":"/openshift/cluster-1.yml","name":"two"}}}`), nil)
		if err != nil {
			return // no bundle
		}
		all, err := integration.List(b, nil)
		if err != nil || len(all) != 1 || all[0].Name != "it" {
			return // no definition
		}
		for s, want := range map[settings.Strategy][]string{settings.PerOpenShiftCluster: {"one", "two"},
			settings.StrategyStatic: {""}} {
			parts, err := sharding.ListParts("it", s, all[0].Managed(), sharding.InBundle(b), sharding.InBundle(b))
			if err != nil {
				continue
			}
			var keys []string
			for _, p := range parts {
				keys = append(keys, p.Key)
				if p.Static < 1 || p.Static > 1000 {
					t.Errorf("%s: got %d static shards", s, p.Static)
				}
			}
			if !slices.Equal(keys, want) {
				t.Errorf("%s: got %q, want %q", s, keys, want)
			}
		}
	})
}
