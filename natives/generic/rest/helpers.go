package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
)

// errCut says that a JSON text ends too early.
var errCut = errors.New("it ends too early")

// isCut reports whether a text is the beginning of a JSON text.
func isCut(raw []byte) bool {
	var v json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(raw)).Decode(&v), io.ErrUnexpectedEOF)
}

// encode writes a body as JSON.
func encode(content any) ([]byte, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, refusal(0, "the body cannot be written as JSON")
	}
	return raw, nil
}

// random returns a number from 0 to below 1.
func (c *Client) random() float64 {
	if c.Random != nil {
		return c.Random()
	}
	return rand.Float64()
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
