// Package retry repeats requests that failed for a reason that may pass by itself.
//
//   - The pause between two attempts doubles each time, up to a bound, and a random
//     part of it is left out, so that clients that failed together do not come back
//     together.
//   - A server that asks to wait (Retry-After) is waited for at least that long.
//   - The number of attempts is bounded, and so is the time, if [Policy.Within] says.
//   - A pause ends at once when the context ends.
package retry
