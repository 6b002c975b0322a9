package cloud

import "net/netip"

// isThisMachine reports whether a host is this machine, to which a token goes without a certificate.
func isThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
