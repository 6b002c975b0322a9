package note

import (
	"fmt"
	"net/url"
	"strings"
)

// link returns a link, or "" when the address is none that a note should lead
// to.
func link(label, address string) string {
	u, err := url.Parse(strings.ToValidUTF8(address, "\uFFFD"))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || len(address) > 2000 {
		return ""
	}
	var out strings.Builder
	for _, c := range []byte(u.String()) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~:/?#@%=&+,", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return "[" + label + "](" + out.String() + ")"
}
