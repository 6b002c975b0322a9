package render

import (
	"strings"
	"testing"
)

// takeFluent replaces the text with the configuration of the log shipper by "(fluent.conf)", as
// the cases do, and returns the configuration as a tree, that of the first object.
func takeFluent(t *testing.T, objects []any) any {
	t.Helper()
	var tree any = []any(nil)
	for _, object := range objects {
		for _, c := range containers(object.(map[string]any)) {
			if c["name"] != "config" {
				continue
			}
			args := c["args"].([]any)
			_, rest, _ := strings.Cut(args[0].(string), "<<EOF\n")
			text, _, ok := strings.Cut(rest, "EOF\n")
			if !ok {
				t.Fatalf("no configuration in %s", args[0])
			}
			if children, ok := parseSection(t, strings.Split(text, "\n"))["children"]; ok && tree.([]any) == nil {
				tree = children
			}
			args[0] = "(fluent.conf)"
		}
	}
	return tree
}

// parseSection returns the lines of a section as the cases write it.
func parseSection(t *testing.T, lines []string) map[string]any {
	t.Helper()
	top := map[string]any{}
	stack := []map[string]any{top}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		in := stack[len(stack)-1]
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "</"):
			stack = stack[:len(stack)-1]
		case strings.HasPrefix(line, "<"):
			name, of, hasOf := strings.Cut(strings.Trim(line, "<>"), " ")
			child := map[string]any{"section": name}
			if hasOf {
				child["match"] = of
			}
			children, _ := in["children"].([]any)
			in["children"] = append(children, child)
			stack = append(stack, child)
		default:
			key, value, _ := strings.Cut(line, " ")
			set, _ := in["set"].(map[string]any)
			if set == nil {
				set = map[string]any{}
				in["set"] = set
			}
			set[key] = value
		}
	}
	if len(stack) != 1 {
		t.Fatalf("a section does not end in %q", lines)
	}
	return top
}
