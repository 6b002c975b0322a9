// Command supplier-orders orders products from the suppliers of the shop. An order
// names the materials of the product.
package main

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/examples/shop/ask"
)

type answer struct {
	Suppliers []struct {
		Name, Email string
		Products    []struct {
			Name      string
			Materials []string
		}
	}
}

func main() {
	ask.PrintChanges(ask.ParseFlags(), `{ suppliers { name email products { name materials } } }`,
		func(a answer) map[string]string {
			orders := map[string]string{}
			for _, s := range a.Suppliers {
				for _, p := range s.Products {
					slices.Sort(p.Materials)
					orders["the order for "+p.Name] = strings.Join(p.Materials, " and ") + ", to " + s.Email
				}
			}
			return orders
		})
}
