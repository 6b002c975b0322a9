package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxDepth is how deep a document may nest. The documents of this package need
// eight levels; the rest is room for added fields.
const maxDepth = 64

// object is a JSON object. Values are object, []any, string, json.Number, bool
// or nil.
type object map[string]any

// digestOf returns the digest of a plan document, as the package comment defines it.
func digestOf(doc object) string {
	sum := sha256.New()
	top := make(object, len(doc))
	for key, value := range doc {
		if key != "digest" {
			top[key] = value
		}
	}
	sum.Write(appendCanonical(nil, top))
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// appendCanonical appends the canonical form of a decoded value.
func appendCanonical(out []byte, value any) []byte {
	switch v := value.(type) {
	case object:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		out = append(out, '{')
		for i, key := range keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, key), ':')
			out = appendCanonical(out, v[key])
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, item)
		}
		return append(out, ']')
	case string:
		return appendString(out, v)
	case json.Number:
		return append(out, v...)
	case bool:
		return fmt.Appendf(out, "%t", v)
	default:
		return append(out, "null"...)
	}
}

// appendString appends a JSON string. It escapes the same characters as jq, which
// differ from those of encoding/json: DEL is escaped, and U+2028 is not.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\b':
			out = append(out, `\b`...)
		case c == '\f':
			out = append(out, `\f`...)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c < 0x20 || c == 0x7f:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// decode parses a document that is one JSON object.
func decode(raw []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	value, err := decodeValue(dec, 0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the document ends too early")
	}
	if err != nil {
		return nil, err
	}
	doc, ok := value.(object)
	if !ok {
		return nil, errors.New("the document is not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the document; keep one document per file")
	}
	return doc, nil
}

// decodeValue reads one value. It reads tokens because the standard decoder neither
// reports a key that appears twice nor limits the depth.
func decodeValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("offset %d: nested deeper than %d levels", dec.InputOffset(), maxDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return decodeObject(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			item, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := dec.Token()
		return list, err
	}
	return token, nil
}

// decodeObject reads the members of an object after its opening brace.
func decodeObject(dec *json.Decoder, depth int) (any, error) {
	members := object{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("offset %d: an object key is not a string", dec.InputOffset())
		}
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("offset %d: key %q appears twice in one object; keep one", dec.InputOffset(), key)
		}
		if members[key], err = decodeValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return members, err
}
