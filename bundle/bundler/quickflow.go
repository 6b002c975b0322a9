package bundler

import "strings"

// flow reads a list in brackets or a mapping in braces.
func (q *quick) flow(depth int) *node {
	if depth > quickDepth {
		return q.fail()
	}
	open := q.s[q.at]
	q.at++
	n := q.node(list, "")
	end := byte(']')
	if open == '{' {
		n.kind, end = mapping, '}'
	}
	if q.flowSkip(); q.peek(0) == end {
		q.at++
		return n
	}
	for !q.failed {
		if n.kind == mapping {
			key, ok := q.flowKey()
			if !ok {
				return q.fail()
			}
			q.flowSkip()
			n.members = append(n.members, member{key, q.flowValue(depth)})
		} else {
			n.items = append(n.items, q.flowValue(depth))
		}
		q.flowSkip()
		c := q.peek(0)
		if c != end && c != ',' {
			return q.fail()
		}
		q.at++
		if c == end {
			break
		}
		q.flowSkip()
	}
	if n.kind == mapping {
		return q.settled(n)
	}
	return n
}

// flowSkip goes over spaces and line ends. A line that could begin or end a
// document is not read.
func (q *quick) flowSkip() {
	for q.at < len(q.s) && (q.s[q.at] == ' ' || q.s[q.at] == '\n') {
		q.at++
		if q.s[q.at-1] == '\n' && (strings.HasPrefix(q.s[q.at:], "---") || strings.HasPrefix(q.s[q.at:], "...")) {
			q.fail()
		}
	}
}

// flowKey reads a key and its colon, which stand on one line.
func (q *quick) flowKey() (*node, bool) {
	start := q.at
	n := q.flowScalar()
	if q.failed || q.at-start > maxKey {
		return nil, false
	}
	tight := q.s[start] == '"' || q.s[start] == '\''
	q.spaces()
	if q.peek(0) != ':' || !tight && q.peek(1) != ' ' && q.peek(1) != '\n' {
		return nil, false
	}
	q.at++
	if c := q.peek(0); tight && strings.IndexByte(" \n\"'{[", c) < 0 && class[c]&flowFirst == 0 && c != '-' {
		return nil, false
	}
	return n, true
}

func (q *quick) flowValue(depth int) *node {
	if c := q.peek(0); c == '{' || c == '[' {
		return q.flow(depth + 1)
	}
	return q.flowScalar()
}

// flowScalar reads text with or without quotes that ends on its line.
func (q *quick) flowScalar() *node {
	start := q.at
	c := q.peek(0)
	if c == '"' || c == '\'' {
		s, ok := q.quoted()
		if !ok {
			return q.fail()
		}
		return q.node(text, s)
	}
	if class[c]&flowFirst == 0 && (c != '-' || class[q.peek(1)]&flowFirst == 0) {
		return q.fail()
	}
	for q.at < len(q.s) {
		c := q.s[q.at]
		if class[c]&flowRest == 0 && (c != ':' || class[q.peek(1)]&keyFirst == 0) {
			break
		}
		q.at++
	}
	n, ok := q.resolve(q.s[start:q.at])
	if !ok {
		return q.fail()
	}
	return n
}

// literal reads text after | in a block of the given column.
func (q *quick) literal(column int) *node {
	q.at++
	chomp := q.peek(0)
	if chomp == '-' || chomp == '+' {
		q.at++
	}
	if q.lineEnd(); q.failed || q.at == len(q.s) {
		return q.fail()
	}
	q.at++
	rest := q.s[q.at:]
	in := len(rest) - len(strings.TrimLeft(rest, " "))
	if in <= column || in == len(rest) || rest[in] == '\n' {
		return q.fail() // blank lines first are rare
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
	if q.skip(); q.at < len(q.s) && q.column() > column {
		return q.fail()
	}
	return q.node(text, string(lines))
}
