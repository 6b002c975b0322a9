// Package mask replaces secrets in texts by ***.
//
//   - A secret of fewer than four bytes is not masked: it would hide ordinary text.
//   - The encoded forms of a secret are masked, too: base64 (also inside a longer
//     text such as a basic-auth header, broken into lines, and encoded twice), hex,
//     URL encoding, and the escapes of JSON, HTML and programs.
//   - Of a secret of several lines, such as a private key, each line of at least eight
//     bytes is masked also by itself.
//   - Secrets that overlap become one ***, so that no part of either stays visible.
//   - A text may come in pieces ([Stream]): a secret is masked wherever the pieces
//     break.
//   - A secret with something else between its bytes, for instance terminal escapes,
//     is not found.
package mask
