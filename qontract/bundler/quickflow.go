package bundler

import "strings"

// readFlow reads a list in brackets or a mapping in braces.
func (q *quickReader) readFlow(depth int) *node {
	if depth > quickDepth {
		return q.fail()
	}
	open := q.s[q.at]
	q.at++
	n := q.newNode(list, "")
	end := byte(']')
	if open == '{' {
		n.kind, end = mapping, '}'
	}
	if q.skipFlowSpace(); q.peek(0) == end {
		q.at++
		return n
	}
	for !q.failed {
		if n.kind == mapping {
			key, ok := q.readFlowKey()
			if !ok {
				return q.fail()
			}
			q.skipFlowSpace()
			n.members = append(n.members, member{key, q.readFlowValue(depth)})
		} else {
			n.items = append(n.items, q.readFlowValue(depth))
		}
		q.skipFlowSpace()
		c := q.peek(0)
		if c != end && c != ',' {
			return q.fail()
		}
		q.at++
		if c == end {
			break
		}
		q.skipFlowSpace()
	}
	if n.kind == mapping {
		return q.checkMapping(n)
	}
	return n
}

// skipFlowSpace skips spaces and line ends. It fails at a line that begins with ---
// or ..., which could begin or end a document.
func (q *quickReader) skipFlowSpace() {
	for q.at < len(q.s) && (q.s[q.at] == ' ' || q.s[q.at] == '\n') {
		q.at++
		if q.s[q.at-1] == '\n' && (strings.HasPrefix(q.s[q.at:], "---") || strings.HasPrefix(q.s[q.at:], "...")) {
			q.fail()
		}
	}
}

// readFlowKey reads a key and its colon, both on one line.
func (q *quickReader) readFlowKey() (*node, bool) {
	start := q.at
	n := q.readFlowScalar()
	if q.failed || q.at-start > maxKey {
		return nil, false
	}
	tight := q.s[start] == '"' || q.s[start] == '\''
	q.skipSpaces()
	if q.peek(0) != ':' || !tight && q.peek(1) != ' ' && q.peek(1) != '\n' {
		return nil, false
	}
	q.at++
	if c := q.peek(0); tight && strings.IndexByte(" \n\"'{[", c) < 0 && charClasses[c]&flowFirst == 0 && c != '-' {
		return nil, false
	}
	return n, true
}

// readFlowValue reads a value within brackets or braces.
func (q *quickReader) readFlowValue(depth int) *node {
	if c := q.peek(0); c == '{' || c == '[' {
		return q.readFlow(depth + 1)
	}
	return q.readFlowScalar()
}

// readFlowScalar reads a scalar with or without quotes that ends on its line.
func (q *quickReader) readFlowScalar() *node {
	start := q.at
	c := q.peek(0)
	if c == '"' || c == '\'' {
		s, ok := q.readQuoted()
		if !ok {
			return q.fail()
		}
		return q.newNode(text, s)
	}
	if charClasses[c]&flowFirst == 0 && (c != '-' || charClasses[q.peek(1)]&flowFirst == 0) {
		return q.fail()
	}
	for q.at < len(q.s) {
		c := q.s[q.at]
		if charClasses[c]&flowRest == 0 && (c != ':' || charClasses[q.peek(1)]&keyFirst == 0) {
			break
		}
		q.at++
	}
	n, ok := q.newPlainNode(q.s[start:q.at])
	if !ok {
		return q.fail()
	}
	return n
}

// readLiteralBlock reads the text after | in a block of the given column.
func (q *quickReader) readLiteralBlock(column int) *node {
	q.at++
	chomp := q.peek(0)
	if chomp == '-' || chomp == '+' {
		q.at++
	}
	if q.expectLineEnd(); q.failed || q.at == len(q.s) {
		return q.fail()
	}
	q.at++
	rest := q.s[q.at:]
	in := len(rest) - len(strings.TrimLeft(rest, " "))
	if in <= column || in == len(rest) || rest[in] == '\n' {
		return q.fail() // text that begins with a blank line is rare
	}
	lines, kept := make([]byte, 0, 256), 0 // kept is where the last line with content ends
	for q.at < len(q.s) {
		line, _, whole := strings.Cut(q.s[q.at:], "\n")
		blank := strings.TrimLeft(line, " ") == ""
		if !blank && len(line)-len(strings.TrimLeft(line, " ")) < in {
			break
		}
		if !whole {
			return q.fail()
		}
		q.at += len(line) + 1
		lines = append(append(lines, line[min(in, len(line)):]...), '\n')
		if !blank || len(line) > in {
			kept = len(lines)
		}
	}
	switch chomp {
	case '-':
		lines = lines[:kept-1]
	case '+':
	default:
		lines = lines[:kept]
	}
	if q.skipToContent(); q.at < len(q.s) && q.column() > column {
		return q.fail()
	}
	return q.newNode(text, string(lines))
}
