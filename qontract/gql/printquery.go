package gql

import "strings"

// print prints the operations and fragments of a document, each on one line. Parsing the
// output gives an equivalent document.
func (d *document) print() string {
	var out strings.Builder
	for _, op := range d.operations {
		op.print(&out)
		out.WriteByte('\n')
	}
	for _, f := range d.fragments {
		out.WriteString("fragment " + f.name + " on " + f.typeCondition)
		printDirectives(&out, f.directives)
		f.selectionSet.print(&out)
		out.WriteByte('\n')
	}
	return out.String()
}

func (op *operation) print(out *strings.Builder) {
	out.WriteString(op.kind)
	if op.name != "" {
		out.WriteString(" " + op.name)
	}
	for i, v := range op.variables {
		out.WriteString(listStart(i) + "$" + v.name + ": " + v.typ.String())
		if v.defaultValue != nil {
			out.WriteString(" = " + v.defaultValue.String())
		}
		printDirectives(out, v.directives)
	}
	if len(op.variables) > 0 {
		out.WriteByte(')')
	}
	printDirectives(out, op.directives)
	op.selectionSet.print(out)
}

func (s *selectionSet) print(out *strings.Builder) {
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
			printArguments(out, n.arguments)
			printDirectives(out, n.directives)
			n.selectionSet.print(out)
		case *spreadNode:
			out.WriteString("..." + n.name)
			printDirectives(out, n.directives)
		case *inlineNode:
			out.WriteString("...")
			if n.typeCondition != "" {
				out.WriteString(" on " + n.typeCondition)
			}
			printDirectives(out, n.directives)
			n.selectionSet.print(out)
		}
	}
	out.WriteString(" }")
}

// listStart returns the text before item i of a list in parentheses.
func listStart(i int) string {
	if i == 0 {
		return "("
	}
	return ", "
}

func printDirectives(out *strings.Builder, list []*directive) {
	for _, d := range list {
		out.WriteString(" @" + d.name)
		printArguments(out, d.arguments)
	}
}

func printArguments(out *strings.Builder, list []*argument) {
	for i, a := range list {
		out.WriteString(listStart(i) + a.name + ": " + a.value.String())
	}
	if len(list) > 0 {
		out.WriteByte(')')
	}
}
