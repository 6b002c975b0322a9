package bundler

import (
	"strings"
	"unicode/utf8"
)

// readQuick reads a file in the subset of YAML that most files use: block mappings
// and lists, values on one line, literal text, and JSON. It is many times as fast as
// the full parser. It gives up on everything else, so that it reads a file either
// exactly as readFullYAML does or not at all. The nodes have no lines and columns: for
// messages, the file is read again by readFullYAML.
func readQuick(raw []byte) (root *node, ok bool) {
	if !hasOnlyQuickText(raw) {
		return nil, false
	}
	q := quickReader{s: string(raw)}
	q.skipToContent()
	if strings.HasPrefix(q.s[q.at:], "---") && q.column() == 0 {
		q.at += 3
		q.expectLineEnd()
		q.skipToContent()
	}
	if q.failed || q.at == len(q.s) {
		return nil, false
	}
	if c := q.s[q.at]; c == '{' || c == '[' {
		root = q.readFlow(0)
		q.expectLineEnd()
		q.skipToContent()
	} else {
		root = q.readBlock(q.column(), 0)
	}
	if q.failed || q.at != len(q.s) || root == nil || root.kind < list {
		return nil, false
	}
	return root, true
}

// quickDepth bounds how deep a file may be nested for the quick reader.
const quickDepth = 100

// hasOnlyQuickText reports whether a file has only characters that every YAML parser
// treats alike.
func hasOnlyQuickText(raw []byte) bool {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c >= ' ' && c < 0x7f, c == '\n':
			i++
			continue
		case c < utf8.RuneSelf:
			return false
		}
		r, size := utf8.DecodeRune(raw[i:])
		if size == 1 || r < 0xa1 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			return false
		}
		i += size
	}
	return true
}

// A quickReader reads one file. After it has failed, its results must not be used.
type quickReader struct {
	s      string
	at     int
	failed bool
	slab   []node // nodes that are allocated together
}

// fail gives up on the file.
func (q *quickReader) fail() *node {
	q.failed = true
	return nil
}

// newNode returns a node of a kind with a text.
func (q *quickReader) newNode(k kind, s string) *node {
	if len(q.slab) == 0 {
		q.slab = make([]node, 64)
	}
	n := &q.slab[0]
	q.slab = q.slab[1:]
	n.kind, n.text = k, s
	return n
}

// peek returns the n-th byte after the next one, and a newline at the end of the
// file.
func (q *quickReader) peek(n int) byte {
	if q.at+n < len(q.s) {
		return q.s[q.at+n]
	}
	return '\n'
}

// column returns the column of the current position, from 0.
func (q *quickReader) column() int { return q.at - 1 - strings.LastIndexByte(q.s[:q.at], '\n') }

// skipSpaces skips spaces.
func (q *quickReader) skipSpaces() {
	for q.at < len(q.s) && q.s[q.at] == ' ' {
		q.at++
	}
}

// skipToContent skips blank lines, comments and spaces.
func (q *quickReader) skipToContent() {
	for q.at < len(q.s) {
		q.skipSpaces()
		switch q.peek(0) {
		case '#':
			q.skipToLineEnd()
		case '\n':
		default:
			return
		}
		if q.at < len(q.s) {
			q.at++
		}
	}
}

// skipToLineEnd skips the rest of the line.
func (q *quickReader) skipToLineEnd() {
	if i := strings.IndexByte(q.s[q.at:], '\n'); i >= 0 {
		q.at += i
		return
	}
	q.at = len(q.s)
}

// expectLineEnd skips spaces and a comment, and fails if anything else is on the
// rest of the line.
func (q *quickReader) expectLineEnd() {
	before := q.at
	q.skipSpaces()
	switch {
	case q.peek(0) == '\n':
	case q.peek(0) == '#' && q.at > before:
		q.skipToLineEnd()
	default:
		q.fail()
	}
}

// expectValueEnd fails if a value in a block of the given column goes on: if more
// follows on the line, or the next content is indented more than the block.
func (q *quickReader) expectValueEnd(column int) {
	if q.expectLineEnd(); q.failed {
		return
	}
	q.skipToContent()
	if q.at < len(q.s) && q.column() > column {
		q.fail()
	}
}

// isAtItem reports whether a list item begins here.
func (q *quickReader) isAtItem() bool {
	return q.peek(0) == '-' && (q.peek(1) == ' ' || q.peek(1) == '\n')
}

// readBlock reads a list or mapping that begins here, in the given column.
func (q *quickReader) readBlock(column, depth int) *node {
	switch {
	case depth > quickDepth:
		return q.fail()
	case q.isAtItem():
		return q.readList(column, depth)
	}
	key, ok := q.readKey()
	if !ok {
		return q.fail()
	}
	return q.readMapping(column, depth, key)
}

// readList reads a list whose items begin with "- " in the given column.
func (q *quickReader) readList(column, depth int) *node {
	n := q.newNode(list, "")
	for !q.failed && q.at < len(q.s) && q.column() == column && q.isAtItem() {
		q.at++
		q.skipSpaces()
		n.items = append(n.items, q.readItem(column, depth))
	}
	if q.at < len(q.s) && q.column() > column {
		q.fail()
	}
	return n
}

// readItem reads a list item after its "- ".
func (q *quickReader) readItem(column, depth int) *node {
	switch c := q.peek(0); {
	case c == '\n' || c == '#':
		return q.readBelow(column, depth, false)
	case q.isAtItem():
		return q.readBlock(q.column(), depth+1)
	}
	in := q.column()
	if key, ok := q.readKey(); ok {
		return q.readMapping(in, depth+1, key)
	}
	return q.readInline(column, depth)
}

// readBelow reads a value that begins on a later line, or null if there is none.
// With listToo, a list may begin in the same column.
func (q *quickReader) readBelow(column, depth int, listToo bool) *node {
	q.skipToContent()
	if q.at < len(q.s) {
		in := q.column()
		if in > column || listToo && in == column && q.isAtItem() {
			return q.readBlock(in, depth+1)
		}
	}
	return q.newNode(null, "null")
}

// readMapping reads the rest of a mapping after its first key.
func (q *quickReader) readMapping(column, depth int, key *node) *node {
	if depth > quickDepth {
		return q.fail()
	}
	n := q.newNode(mapping, "")
	for ok := true; ok && !q.failed; {
		n.members = append(n.members, member{key, q.readMemberValue(column, depth)})
		if q.at == len(q.s) || q.column() != column {
			break
		}
		if key, ok = q.readKey(); !ok {
			q.fail()
		}
	}
	if q.at < len(q.s) && q.column() > column {
		q.fail()
	}
	return q.checkMapping(n)
}

// checkMapping fails if a mapping has duplicate keys or keys that cannot be sorted.
func (q *quickReader) checkMapping(n *node) *node {
	if findUnsortable(n.members) != nil {
		return q.fail()
	}
	findDuplicates(n.members, func(_, _ *node) { q.failed = true })
	return n
}

// readMemberValue reads the value of a key in a block of the given column.
func (q *quickReader) readMemberValue(column, depth int) *node {
	before := q.at
	q.skipSpaces()
	c := q.peek(0)
	if c == '\n' || c == '#' && q.at > before {
		return q.readBelow(column, depth, true)
	}
	return q.readInline(column, depth)
}

// readInline reads a value that begins on the line of its key or dash, in a block of
// the given column.
func (q *quickReader) readInline(column, depth int) *node {
	var n *node
	switch c := q.peek(0); c {
	case '|':
		return q.readLiteralBlock(column)
	case '[', '{':
		n = q.readFlow(depth + 1)
	case '"', '\'':
		s, ok := q.readQuoted()
		if !ok {
			return q.fail()
		}
		n = q.newNode(text, s)
	default:
		n = q.readPlainLine()
	}
	if !q.failed {
		q.expectValueEnd(column)
	}
	return n
}

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
