package template

import "strings"

// findReference returns where the first reference ${NAME} of a text begins and ends. The end is
// negative if there is none. A name has letters, digits and underscores.
func findReference(text string) (begin, end int) {
	at := 0
	for {
		next := strings.Index(text[at:], "${")
		if next < 0 {
			return 0, -1
		}
		begin = at + next
		end = begin + len("${")
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		if end < len(text) && text[end] == '}' && end > begin+len("${") {
			return begin, end + 1
		}
		at = begin + len("${")
	}
}

// wholeName returns the name of a text that is ${{NAME}} and nothing else.
func wholeName(text string) (string, bool) {
	name, ok := strings.CutPrefix(text, "${{")
	if !ok {
		return "", false
	}
	if name, ok = strings.CutSuffix(name, "}}"); !ok || name == "" {
		return "", false
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return "", false
		}
	}
	return name, true
}

func isNameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// Names returns the names that a text refers to, in their order.
func Names(text string) []string {
	if name, ok := wholeName(text); ok {
		return []string{name}
	}
	var names []string
	for {
		begin, end := findReference(text)
		if end < 0 {
			return names
		}
		names = append(names, text[begin+2:end-1])
		text = text[end:]
	}
}
