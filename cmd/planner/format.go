package main

import (
	"fmt"
	"slices"
	"strings"
)

// A format is a flag that takes one of a few words.
type format struct {
	allowed []string
	value   string
}

func (f *format) String() string { return f.value }
func (f *format) Type() string   { return strings.Join(f.allowed, "|") }

func (f *format) Set(s string) error {
	if !slices.Contains(f.allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(f.allowed, ", "))
	}
	f.value = s
	return nil
}
