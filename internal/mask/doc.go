// Package mask replaces secrets in texts by ***.
//
//   - A secret of fewer than four bytes is not masked: it would hide ordinary text.
//   - A secret is found as it is, in base64 (also inside a longer text such as a
//     basic-auth header, and encoded twice) and in hex.
//   - A secret of at least eight bytes is found in digits of any kind: base64 (of both
//     alphabets), base32 (of both alphabets, in large and small letters) and hex, alone or
//     anywhere inside of a longer text that is encoded. The digits may stand for the secret
//     as it is, for the secret in a string of JSON as common libraries write it, or for the
//     secret in UTF-16. The bytes of UTF-16 are found, too. A shorter secret is found in
//     base64 and hex alone: its few digits may stand in ordinary text by accident as soon as
//     anything may stand between them.
//   - Between digits a line may break, and the next one may be indented with spaces and
//     tabs. Between digits of hex there may also be spaces, tabs, the characters : - _ and
//     the comma, 0x, \x, and what a dump (xxd, hexdump -C, od) writes at the end and the
//     beginning of a line. The rest of a dump's last line, which may show the secret as
//     text, is masked as well.
//   - Each character of these forms may be escaped in the way of JSON, JavaScript,
//     Python (str and bytes), shells, HTML or URLs, also several times: \", \/, \u00e4,
//     \xc3\xa4, &quot;, &#x27;, %22 and \\\" (JSON in JSON) are found. The characters of
//     one secret may be escaped in different ways.
//   - Terminal escapes and other characters that a terminal does not show may stand
//     between the characters of a secret, up to 16 KiB within one secret. In a form of at
//     least eight bytes lines may also break. A line break is one or two bytes at a place.
//   - Of a secret of several lines, such as a private key, each line of at least eight
//     bytes is masked also by itself.
//   - Secrets that overlap become one ***, so that no part of either stays visible.
//   - A text may come in pieces ([Stream]): a secret is masked wherever the pieces
//     break.
//   - A secret that is learned later ([Masker.Add]) is masked from then on, also in texts
//     that have begun.
//
// Not found are: a secret that is compressed, encrypted, reversed, cut into parts or encoded
// in another way (base85, quoted-printable, UTF-7, decimal numbers, hexdump without -C, whose
// pairs of bytes are swapped); digits with other characters between them, such as the sign >
// of a quoted mail, or spaces within a line of base64; digits in digits, except base64 in
// base64; and JSON of a style in which only some of the characters are escaped that a
// library escapes.
//
// The time is linear in the text: each alphabet is read once, and the last 60 to 64 bits are
// looked up in a table of windows. Only where they are the beginning of a secret, the rest of
// the secret is compared; secrets that begin in the same way are compared at once. A text
// that repeats the beginning of a secret which is itself made of repetitions, such as a
// thousand zeros, takes time for each repetition.
package mask
