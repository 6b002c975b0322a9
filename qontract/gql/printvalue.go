package gql

import (
	"fmt"
	"slices"
	"strings"
)

// String prints a literal as error messages quote it.
func (v *valueNode) String() string {
	var out strings.Builder
	v.print(&out, false)
	return out.String()
}

// canonicalText prints a literal with the fields of its objects sorted by name, so that
// equal literals have equal text.
func (v *valueNode) canonicalText() string {
	var out strings.Builder
	v.print(&out, true)
	return out.String()
}

func (v *valueNode) print(out *strings.Builder, sorted bool) {
	switch v.kind {
	case valueVariable:
		out.WriteString("$" + v.raw)
	case valueString:
		printString(out, v.raw)
	case valueBlockString:
		out.WriteString(printBlock(v.raw))
	case valueList:
		out.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				out.WriteString(", ")
			}
			item.print(out, sorted)
		}
		out.WriteByte(']')
	case valueObject:
		v.printObject(out, sorted)
	default:
		out.WriteString(v.raw)
	}
}

func (v *valueNode) printObject(out *strings.Builder, sorted bool) {
	fields := v.fields
	if sorted {
		fields = slices.Clone(fields)
		slices.SortStableFunc(fields, func(a, b *argument) int { return naturalCompare(a.name, b.name) })
	}
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(f.name + ": ")
		f.value.print(out, sorted)
	}
	out.WriteByte('}')
}

// printString prints a string literal and escapes control characters.
func printString(out *strings.Builder, s string) {
	out.WriteByte('"')
	for _, r := range s {
		switch i := strings.IndexRune("\"\\\b\f\n\r\t", r); {
		case i >= 0:
			out.WriteByte('\\')
			out.WriteByte(`"\bfnrt`[i])
		case r < 0x20 || 0x7F <= r && r <= 0x9F:
			fmt.Fprintf(out, "\\u%04X", r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// longLine is the number of UTF-16 units above which a block string is printed on its own
// lines.
const longLine = 70

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// printBlock prints a block string in the layout of graphql-js.
func printBlock(value string) string {
	escaped := strings.ReplaceAll(value, `"""`, `\"""`)
	lines := strings.Split(lineEnds.Replace(escaped), "\n")
	single := len(lines) == 1
	blank := func(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }
	indented := !single && !slices.ContainsFunc(lines[1:], func(line string) bool { return line != "" && !blank(line) })
	tripled := strings.HasSuffix(escaped, `\"""`)
	closing := strings.HasSuffix(value, `"`) && !tripled || strings.HasSuffix(value, `\`)
	spread := !single || newSourceText(value).unitsBefore(len(value)) > longLine || closing || tripled
	out := `"""`
	if spread && !(single && blank(value)) || indented {
		out += "\n"
	}
	out += escaped
	if spread {
		out += "\n"
	}
	return out + `"""`
}
