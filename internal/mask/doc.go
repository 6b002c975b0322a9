// Package mask replaces secrets in texts by ***.
//
//   - A secret of fewer than four bytes is not masked: it would hide ordinary text.
//   - A secret is found as it is, in base64 (also inside a longer text such as a
//     basic-auth header, and encoded twice) and in hex.
//   - Each character of these forms may be escaped in the way of JSON, JavaScript,
//     Python (str and bytes), shells, HTML or URLs, also several times: \", \/, \u00e4,
//     \xc3\xa4, &quot;, &#x27;, %22 and \\\" (JSON in JSON) are found. The characters of
//     one secret may be escaped in different ways.
//   - Terminal escapes and other characters that a terminal does not show may stand
//     between the characters of a secret, up to 16 KiB within one secret. In a form of at
//     least eight bytes lines may also break.
//   - Of a secret of several lines, such as a private key, each line of at least eight
//     bytes is masked also by itself.
//   - Secrets that overlap become one ***, so that no part of either stays visible.
//   - A text may come in pieces ([Stream]): a secret is masked wherever the pieces
//     break.
//   - A secret that is learned later ([Masker.Add]) is masked from then on, also in texts
//     that have begun.
package mask
