// Command staff-badges manages the badges of the staff of the shop.
package main

import (
	"fmt"

	"github.com/app-sre/prcheck/examples/shop/ask"
)

type answer struct {
	Staff []struct {
		Name  string
		Badge int
	}
}

func main() {
	ask.PrintChanges(ask.ParseFlags(), `{ staff { name badge } }`, func(a answer) map[string]string {
		badges := map[string]string{}
		for _, s := range a.Staff {
			badges["the badge of "+s.Name] = fmt.Sprint(s.Badge)
		}
		return badges
	})
}
