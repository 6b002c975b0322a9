// Command staff-badges keeps the badges of the shop's staff.
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
	ask.Changes(ask.Flags(), `{ staff { name badge } }`, func(a answer) map[string]string {
		badges := map[string]string{}
		for _, s := range a.Staff {
			badges["the badge of "+s.Name] = fmt.Sprint(s.Badge)
		}
		return badges
	})
}
