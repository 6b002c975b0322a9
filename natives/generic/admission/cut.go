package admission

import (
	"bytes"
	"encoding/json"
)

// cutMember returns the value of a member of an object, and the object with null in its place. The
// text must be valid JSON. Of a text that is no object or has no such member, it returns nil and
// the text. It reads large values once, where [json.Unmarshal] reads them twice.
func cutMember(raw []byte, name string) (value json.RawMessage, rest []byte) {
	at := skipBlanks(raw, 0)
	if at == len(raw) || raw[at] != '{' {
		return nil, raw
	}
	var begin, end int
	for at = skipBlanks(raw, at+1); raw[at] != '}'; {
		if raw[at] == ',' {
			at = skipBlanks(raw, at+1)
		}
		nameEnd := skipText(raw, at)
		isIt := isName(raw[at:nameEnd], name)
		at = skipBlanks(raw, skipBlanks(raw, nameEnd)+len(":"))
		valueEnd := skipValue(raw, at)
		if isIt {
			begin, end = at, valueEnd
		}
		at = skipBlanks(raw, valueEnd)
	}
	if end == 0 {
		return nil, raw
	}
	rest = append(make([]byte, 0, len(raw)-(end-begin)+len("null")), raw[:begin]...)
	return raw[begin:end:end], append(append(rest, "null"...), raw[end:]...)
}

func isName(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	var text string
	return json.Unmarshal(quoted, &text) == nil && text == name
}

func skipBlanks(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// skipText returns the end of a string that begins at a place.
func skipText(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// skipValue returns the end of a value that begins at a place.
func skipValue(raw []byte, at int) int {
	for depth := 0; at < len(raw); at++ {
		switch raw[at] {
		case '"':
			at = skipText(raw, at) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // of what is around a number
			}
			depth--
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return at // behind a number or a word
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return at
}
