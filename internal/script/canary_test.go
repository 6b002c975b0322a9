package script

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"testing"
)

// The command canary finds a secret in each form that must be masked.
func TestHolds(t *testing.T) {
	const secret = "a/b+canary&ä"
	b64 := base64.StdEncoding.EncodeToString
	for _, c := range []struct{ text, want string }{
		{"nothing of it", ""},
		{"x" + secret + "y", "plain"},
		{b64([]byte(secret)), "in base64 or hex"}, {b64([]byte("u:" + secret)), "in base64 or hex"},
		{b64([]byte("us:" + secret + "@h")), "in base64 or hex"},
		{b64([]byte("usr:" + secret))[:9] + "\n" + b64([]byte("usr:" + secret))[9:], "in base64 or hex"},
		{base64.RawURLEncoding.EncodeToString([]byte("~" + secret)), "in base64 or hex"},
		{url.QueryEscape(secret), "in an address"}, {hex.EncodeToString([]byte(secret)), "in base64 or hex"},
		{"a/b+canary&amp;ä", "as HTML"}, {`a\\\/b\u002bcanary%5Cu0026`, "escaped somehow"},
		{"a/b\x1b[1m+can\x1b]0;x\aary&\\xe4", "escaped somehow"}, {`a/b+canary\u0026\u00e4`, "escaped"},
	} {
		if got := Holds(c.text, secret); (got != "") != (c.want != "") {
			t.Errorf("%q: got %q, want it found %s", c.text, got, c.want)
		}
	}
}
