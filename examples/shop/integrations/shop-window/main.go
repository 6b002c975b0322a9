// Command shop-window writes the signs for the products in the shop window.
package main

import "github.com/app-sre/prcheck/examples/shop/ask"

type answer struct {
	Products []struct{ Name, Description string }
}

func main() {
	ask.PrintChanges(ask.ParseFlags(), `{ products { name description } }`, func(a answer) map[string]string {
		window := map[string]string{}
		for _, p := range a.Products {
			window["the sign of "+p.Name] = p.Description
		}
		return window
	})
}
