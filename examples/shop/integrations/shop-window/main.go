// Command shop-window decorates the shop window.
package main

import "github.com/app-sre/prcheck/examples/shop/ask"

type answer struct {
	Products []struct{ Name, Description string }
}

func main() {
	ask.Changes(ask.Flags(), `{ products { name description } }`, func(a answer) map[string]string {
		window := map[string]string{}
		for _, p := range a.Products {
			window["the sign of "+p.Name] = p.Description
		}
		return window
	})
}
