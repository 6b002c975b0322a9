// Command price-tags prints a price tag for each product of the shop.
package main

import (
	"fmt"

	"github.com/app-sre/prcheck/examples/shop/ask"
)

type answer struct {
	Products []struct {
		Name  string
		Cents int
	}
}

func main() {
	ask.PrintChanges(ask.ParseFlags(), `{ products { name cents } }`, func(a answer) map[string]string {
		tags := map[string]string{}
		for _, p := range a.Products {
			tags["the tag of "+p.Name] = fmt.Sprintf("%d.%02d", p.Cents/100, p.Cents%100)
		}
		return tags
	})
}
