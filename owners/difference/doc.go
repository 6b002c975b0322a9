// Package difference finds the differences of two contents by their places.
//
//	for _, d := range difference.Of(base, head) {
//		fmt.Println(d.Kind, d.Place())
//	}
//
// A content is decoded JSON: map[string]any, []any, string, [json.Number], bool and nil. Each difference has a place in
// base and one in head, because list items move. No difference is made coarser: an object differs in its keys, and only
// what one side does not have at all is one difference at its root.
//
// Items of lists are matched so:
//
//   - An item with an identity (its __identifier, or an object that is nothing but $ref) is the item with the same
//     identity. An item with another identity is another item: one is removed, one is added.
//   - Other items are matched if they are equal; then objects by the most keys with equal values, in order. Objects
//     with no such key are removed and added.
//   - What is left at the same position on both sides is changed, unless both are objects of their own.
//   - The order of the matched items is a difference of the list itself: reordered.
//
// Awkward cases:
//
//   - __identifier is no content: bundlers make it. All other names are content, also those with two underscores.
//   - An empty object, list or text as a whole content is no content: the file is added or removed.
//   - null is a value. A key that is null is not a key that is absent.
//   - Numbers are compared as they are written: 1 is not 1.0.
package difference
