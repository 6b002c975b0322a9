package gql

import "testing"

// FuzzWrite checks that a document that is printed and parsed again prints the same.
func FuzzWrite(f *testing.F) {
	f.Add(`query A($a: [Int!]! = [1, 2], $b: J @x) @y(z: $a) { a: b(c: {d: "e\n\"", f: """g"""}) @skip(if: true) { ...F ... on T { x } ... @include(if: $b) { y } } } fragment F on T { z }`)
	f.Add(`{ a } query B { b(x: 1.5e3, y: ENUM, z: null) }`)
	f.Fuzz(func(t *testing.T, src string) {
		doc, failed := parse(src)
		if failed != nil || len(doc.definitions) != len(doc.operations)+len(doc.fragments) {
			return
		}
		once := doc.print()
		again, failed := parse(once)
		if failed != nil {
			t.Fatalf("%q: %v", once, failed.Message)
		}
		if twice := again.print(); twice != once {
			t.Errorf("got %q, then %q", once, twice)
		}
	})
}
