package script

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// The command canary finds a secret in each form that must be masked.
func TestHolds(t *testing.T) {
	const secret = "a/b+canary&ä"
	b64 := base64.StdEncoding.EncodeToString
	for _, c := range []struct{ text, want string }{
		{"nothing of it", ""},
		{"x" + secret + "y", "plain"},
		{b64([]byte(secret)), "in digits"}, {b64([]byte("u:" + secret)), "in digits"},
		{b64([]byte("us:" + secret + "@h")), "in digits"},
		{b64([]byte("usr:" + secret))[:9] + "\n" + b64([]byte("usr:" + secret))[9:], "in digits"},
		{base64.RawURLEncoding.EncodeToString([]byte("~" + secret)), "in digits"},
		{url.QueryEscape(secret), "in an address"}, {hex.EncodeToString([]byte(secret)), "in digits"},
		{base32.StdEncoding.EncodeToString([]byte("xy" + secret + "z")), "in digits"},
		{base32.HexEncoding.EncodeToString([]byte(secret)), "in digits"},
		{strings.Join(strings.Split(hex.EncodeToString([]byte(secret)), ""), "\n    "), "in digits"},
		{fmt.Sprintf("% x", secret), "in digits"}, {"a\x00/\x00b\x00+\x00canary&ä", "in UTF-16"},
		{"a/b+canary&amp;ä", "as HTML"}, {`a\\\/b\u002bcanary%5Cu0026`, "escaped somehow"},
		{"a/b\x1b[1m+can\x1b]0;x\aary&\\xe4", "escaped somehow"}, {`a/b+canary\u0026\u00e4`, "escaped"},
	} {
		if got := Holds(c.text, secret); (got != "") != (c.want != "") {
			t.Errorf("%q: got %q, want it found %s", c.text, got, c.want)
		}
	}
}
