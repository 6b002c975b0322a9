package affected

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// shopQueries go through everything the shop has: references, back references,
// resources, filters, and ways that lead through several files.
var shopQueries = []string{
	"{ products { name cents } }",
	"{ staff { name badge } }",
	"{ suppliers { name email products { name materials } } }",
	"{ warehouses { name shelves products { name } } }",
	"{ staff { name warehouse { city products { supplier { email } } } } }",
	"{ warehouses { staff { badge } products { label { content } } } }",
	"{ products { path schema supplier { products { warehouse { staff { name } } } } } }",
	"{ resources { path content schema sha256sum } }",
	`{ products(name: "lamp") { description } }`,
	`{ products(path: "/products/stool.yml") { materials warehouse { name } } }`,
	`{ products(filter: {cents: {ne: 4900}}) { name } }`,
	`{ products(filter: {supplier: {filter: {name: "oakworks"}}}) { name label { sha256sum } } }`,
	`{ staff(filter: {warehouse: {filter: {shelves: {in: [80, 120]}}}}) { name } }`,
	"{ integrations { name schemas } a: products { name } b: products { cents supplier { name } } }",
}

// No integration is skipped whose answer differs, and shards are those of the
// whole answers, whatever happens to the shop.
func TestNoWrongSkipInTheShop(t *testing.T) {
	raw, err := os.ReadFile("../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	var c counts
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		base, head := shop(t, raw), shop(t, raw)
		for range 1 + r.IntN(3) {
			vandalize(r, head)
		}
		if r.IntN(4) == 0 {
			base, head = head, base // what was added is removed
		}
		b := parseShop(t, base, nil)
		h := parseShop(t, head, b)
		c.comparison, c.whole = NewComparison(b, h, bundle.Compare(b, h), Options{}), nil
		for _, q := range shopQueries {
			c.check(t, gql.Request{Query: q})
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	c.comparison, c.whole = nil, nil
	t.Logf("%+v", c)
	if c.run == 0 || c.fields == 0 || c.state == 0 || c.sharded == 0 || c.doubts == 0 {
		t.Errorf("got %+v, want some of each", c)
	}
}

func shop(t *testing.T, raw []byte) *bundle.Object {
	t.Helper()
	v, err := bundle.ParseValue(raw)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := v.(*bundle.Object)
	return o
}

func parseShop(t *testing.T, o *bundle.Object, like *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse([]byte(bundle.Canonical(o)), like)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// vandalize changes one thing in the shop.
func vandalize(r *rand.Rand, shop *bundle.Object) {
	part := func(name string) *bundle.Object {
		v, _ := shop.Get(name)
		o, _ := v.(*bundle.Object)
		return o
	}
	data := part("data")
	members := data.Members()
	victim := members[r.IntN(len(members))]
	file, _ := victim.Value.(*bundle.Object)
	switch r.IntN(8) {
	case 0: // another file like this one
		data.Set(fmt.Sprintf("%s-%d.yml", victim.Key, r.IntN(3)), file)
	case 1: // without this one
		left := bundle.NewObject()
		for _, m := range members {
			if m.Key != victim.Key {
				left.Set(m.Key, m.Value)
			}
		}
		shop.Set("data", left)
	case 2: // a resource
		label, _ := part("resources").Members()[0].Value.(*bundle.Object)
		key := []string{"content", "sha256sum", "$schema", "backrefs"}[r.IntN(4)]
		label.Set(key, fmt.Sprint("new ", r.IntN(9)))
	default:
		changeKey(r, file, members)
	}
}

// changeKey changes one key of a file.
func changeKey(r *rand.Rand, file *bundle.Object, files []bundle.Member) {
	keys := file.Members()
	key := keys[r.IntN(len(keys))].Key
	v, _ := file.Get(key)
	switch v := v.(type) {
	case *bundle.Object:
		target := files[r.IntN(len(files))].Key
		if r.IntN(8) == 0 {
			target = "/gone.yml"
		}
		file.Set(key, bundle.NewObject(bundle.Member{Key: "$ref", Value: target}))
	case []any:
		shuffled := append([]any{}, v...)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if r.IntN(2) == 0 {
			shuffled = append(shuffled, "wax")
		}
		file.Set(key, shuffled)
	case bundle.Number:
		file.Set(key, bundle.Number(fmt.Sprint(r.IntN(300))))
	default:
		if key == "$schema" && r.IntN(3) > 0 {
			return
		}
		file.Set(key, []any{"lamp", "/shop/product-1.yml", "new", nil}[r.IntN(4)])
		if s, _ := file.Get("$schema"); s == nil {
			file.Set("$schema", "/shop/product-1.yml")
		}
	}
}
