package gql

import "strings"

// write prints the operations and fragments of a document in one line each, so
// that they mean the same when they are read again.
func (d *document) write() string {
	var out strings.Builder
	for _, op := range d.operations {
		op.write(&out)
		out.WriteByte('\n')
	}
	for _, f := range d.fragments {
		out.WriteString("fragment " + f.name + " on " + f.on)
		writeDirectives(&out, f.directives)
		f.set.write(&out)
		out.WriteByte('\n')
	}
	return out.String()
}

func (op *operation) write(out *strings.Builder) {
	out.WriteString(op.kind)
	if op.name != "" {
		out.WriteString(" " + op.name)
	}
	for i, v := range op.variables {
		out.WriteString(map[bool]string{true: "(", false: ", "}[i == 0] + "$" + v.name + ": " + v.typ.String())
		if v.standard != nil {
			out.WriteString(" = " + v.standard.String())
		}
		writeDirectives(out, v.directives)
	}
	if len(op.variables) > 0 {
		out.WriteByte(')')
	}
	writeDirectives(out, op.directives)
	op.set.write(out)
}

func (s *selectionSet) write(out *strings.Builder) {
	if s == nil {
		return
	}
	out.WriteString(" {")
	for _, selection := range s.selections {
		out.WriteByte(' ')
		switch n := selection.(type) {
		case *fieldNode:
			if n.alias != "" {
				out.WriteString(n.alias + ": ")
			}
			out.WriteString(n.name)
			writeArguments(out, n.arguments)
			writeDirectives(out, n.directives)
			n.set.write(out)
		case *spreadNode:
			out.WriteString("..." + n.name)
			writeDirectives(out, n.directives)
		case *inlineNode:
			out.WriteString("...")
			if n.on != "" {
				out.WriteString(" on " + n.on)
			}
			writeDirectives(out, n.directives)
			n.set.write(out)
		}
	}
	out.WriteString(" }")
}

func writeDirectives(out *strings.Builder, list []*directive) {
	for _, d := range list {
		out.WriteString(" @" + d.name)
		writeArguments(out, d.arguments)
	}
}

func writeArguments(out *strings.Builder, list []*argument) {
	for i, a := range list {
		out.WriteString(map[bool]string{true: "(", false: ", "}[i == 0] + a.name + ": " + a.value.String())
	}
	if len(list) > 0 {
		out.WriteByte(')')
	}
}
