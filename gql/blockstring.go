package gql

import "strings"

// blockText returns what a block string means: gqlparser has another idea of
// which indentation its lines share.
func blockText(raw string) string {
	raw = strings.NewReplacer("\r\n", "\n", "\r", "\n", `\"""`, `"""`).Replace(raw)
	return dedent(strings.Split(raw, "\n"))
}

// dedent takes the indentation that all lines but the first share, and the
// blank lines at both ends, away.
func dedent(lines []string) string {
	shared, first, last := -1, -1, -1
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if indent == len(line) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		if i > 0 && (shared < 0 || indent < shared) {
			shared = indent
		}
	}
	if first < 0 {
		return ""
	}
	for i := 1; i < len(lines) && shared > 0; i++ {
		lines[i] = lines[i][min(shared, len(lines[i])):]
	}
	return strings.Join(lines[first:last+1], "\n")
}
