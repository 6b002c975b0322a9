// Package coverage says, for each difference of a change, by which contexts somebody may approve it.
//
// A context covers a changed value if its selectors allow the place in base and the place in head, each on its own
// side; an added one if they do in head, a removed one if they do in base. What is added or removed may also be covered
// in parts, which form a tree: the contexts of a coarser part hold for the finer ones. Parts cover an object if every
// leaf of it lies under one of them; an empty object and an empty list are leaves.
//
// A difference of text alone is covered by any context of the file, and by none where there is none.
package coverage
