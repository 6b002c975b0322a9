package classes

import (
	_ "embed"
)

//go:embed overrides.json
var shipped []byte

// ShippedName is the name of the shipped overrides in messages.
const ShippedName = "shipped overrides"

// Shipped returns the overrides that are a part of the program: what is known of services and
// stands in no specification. An entry is about a type that need not be there.
func Shipped() (*Overrides, error) {
	o, err := ReadOverrides(ShippedName, shipped)
	if err != nil {
		return nil, err
	}
	o.isShipped = true
	return o, nil
}
