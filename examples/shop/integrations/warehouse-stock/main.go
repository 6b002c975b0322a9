// Command warehouse-stock manages the shelves of the warehouses of the shop. With
// -warehouse it manages only those of one warehouse.
package main

import (
	"fmt"

	"github.com/app-sre/prcheck/examples/shop/ask"
)

type answer struct {
	Warehouses []struct {
		Name     string
		Shelves  int
		Products []struct{ Name string }
	}
}

func main() {
	o := ask.ParseFlags()
	ask.PrintChanges(o, `{ warehouses { name shelves products { name } } }`, func(a answer) map[string]string {
		stock := map[string]string{}
		for _, w := range a.Warehouses {
			if o.Warehouse == "" || o.Warehouse == w.Name {
				stock["the warehouse "+w.Name] = fmt.Sprintf("%d shelves for %d products", w.Shelves, len(w.Products))
			}
		}
		return stock
	})
}
