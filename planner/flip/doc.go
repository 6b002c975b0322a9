// Package flip finds the smallest known change that would have decided otherwise about an
// integration.
//
//   - It claims nothing that it did not try: each [plan.Flip] was decided about again, by the
//     same ladder, over bundles or settings that were changed in this way and in no other.
//   - What runs is tried with parts of the change taken back, and with rules that would skip
//     it. What is skipped is tried with other values in files that it may read.
//   - A set of changes is reduced for as long as a part of it is enough. "Smallest" means that
//     no single change can be left out. Another set may be smaller still.
//   - The number of tries is bounded. When it is used up, what was found is still true, but may
//     not be the smallest; and nothing found does not mean that there is nothing.
package flip
