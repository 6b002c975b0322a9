package simulation

import "strings"

// Some people, or their editors, indent the items of lists; the programs of today that write a
// file anew do not. Both is YAML of the same value.

// indented returns a saas file with the items of lists indented by two.
func indented(text string) string { return restyle(text, 2) }

// flat returns a saas file with the items of lists below their keys, as programs write it.
func flat(text string) string { return restyle(text, 0) }

// restyle writes a saas file of the simulation anew, with the items of lists indented by so much.
func restyle(text string, by int) string {
	lines := strings.Split(text, "\n")
	isTarget := false
	for i, line := range lines {
		content := strings.TrimSpace(line)
		key, _, _ := strings.Cut(content, ":")
		depth, lists := 0, 0 // in a flat file, and how many lists are around
		switch {
		case strings.HasPrefix(content, "- name: t-"):
			isTarget, lists = false, 1
		case content == "- namespace:":
			isTarget, depth, lists = true, 2, 2
		case isTarget && strings.HasPrefix(content, "- "):
			depth, lists = 6, 3
		case isTarget && (key == "parameters" || key == "ref" || key == "promotion"):
			depth, lists = 4, 2
		case isTarget:
			depth, lists = 6, 2
		case key == "REPLICAS":
			depth, lists = 4, 1
		case key == "url" || key == "path" || key == "parameters" || key == "targets":
			depth, lists = 2, 1
		}
		if content != "" {
			lines[i] = strings.Repeat(" ", depth+by*lists) + content
		}
	}
	return strings.Join(lines, "\n")
}
