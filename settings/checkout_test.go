package settings

import "testing"

func TestCheckout(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Checkout
		bundle     bool
	}{
		{"nothing", "version: 1\n", Checkout{"data", "resources", "schemas", "graphql-schemas/schema.yml"}, false},
		{"some", "version: 1\ncheckout: {data: d/e}\n", Checkout{"d/e", "resources", "schemas", "graphql-schemas/schema.yml"},
			false},
		{"outside", "version: 1\ncheckout: {schemas: ../s, graphql: /g/schema.yml}\n",
			Checkout{"data", "resources", "../s", "/g/schema.yml"}, false},
		{"a bundle", "version: 1\ncheckout: {schemas: ../s.json}\n",
			Checkout{"data", "resources", "../s.json", "graphql-schemas/schema.yml"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Read("prcheck.yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Checkout(); got != c.want || got.FromBundle() != c.bundle {
				t.Errorf("got %+v, %t, want %+v, %t", got, got.FromBundle(), c.want, c.bundle)
			}
		})
	}
	if got := (&Settings{}).Checkout(); got != defaultCheckout {
		t.Errorf("without a file: got %+v", got)
	}
}

func TestCheckoutMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "{date: x}", `prcheck.yaml:2: checkout: unknown key "date" (did you mean "data"?)`},
		{"outside", "{data: ../x}", `prcheck.yaml:2: checkout.data: "../x" cannot be used: it is not inside of the checkout`},
		{"absolute", "{resources: /x}",
			`prcheck.yaml:2: checkout.resources: "/x" cannot be used: it is not inside of the checkout`},
		{"upwards", "{data: a/../b}", `prcheck.yaml:2: checkout.data: "a/../b" cannot be used: it has the part ".."`},
		{"empty", "{data: ''}", "prcheck.yaml:2: checkout.data: is empty"},
		{"backslash", `{data: 'a\b'}`,
			`prcheck.yaml:2: checkout.data: "a\\b" cannot be used: it has a backslash; write slashes`},
		{"graphql twice", "{schemas: s.json, graphql: g.yml}",
			`prcheck.yaml:2: checkout.graphql: cannot be set, since the GraphQL types come with the schemas from the bundle "s.json"`},
		{"a list", "[]", "prcheck.yaml:2: checkout: must be a mapping, got a list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read("prcheck.yaml", []byte("version: 1\ncheckout: "+c.text+"\n"))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
