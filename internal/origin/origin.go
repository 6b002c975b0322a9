package origin

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// An Origin is where a server is. Two addresses reach the same server if their origins are equal.
type Origin struct {
	Scheme string // https, or http
	Host   string // in lower case; an address of IPv6 has no brackets
	Port   string // also if it is the usual one of the scheme
}

// Errors of addresses.
var (
	errForm = errors.New("it must be https://HOST, without a user and without a query")
	errHTTP = errors.New("it must begin with https://; http:// is allowed for this machine alone")
	errPort = errors.New("its port must be a number from 1 to 65535")
	errHost = errors.New("its host must be a name or an address, without a wildcard or a zone")
)

// Parse returns the origin of an address. An address with a user, with http to another machine, with a
// wildcard or with a port that does not exist is an error.
func Parse(address string) (Origin, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil && strings.Contains(err.Error(), "invalid port"):
		return Origin{}, errPort
	case err != nil:
		return Origin{}, errForm
	}
	return Of(u)
}

// Server returns the origin of the address of a server. It is an error as in [Parse], and also if the address has a
// query or a fragment.
func Server(address string) (Origin, error) {
	o, err := Parse(address)
	if err == nil && strings.ContainsAny(address, "?#") {
		return Origin{}, errForm
	}
	return o, err
}

// Of returns the origin of an address that was read already. http to another machine is an error.
func Of(u *url.URL) (Origin, error) {
	o, err := Any(u)
	if err == nil && !o.IsPrivate() {
		err = errHTTP
	}
	if err != nil {
		return Origin{}, err
	}
	return o, nil
}

// Any returns the origin of an address that was read already, also if it is one with http on another machine.
func Any(u *url.URL) (Origin, error) {
	o := Origin{strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()}
	switch {
	case o.Host == "" || u.User != nil || u.Opaque != "":
		return Origin{}, errForm
	case strings.ContainsAny(o.Host, "*%/\\@ \t\r\n"):
		return Origin{}, errHost
	case o.Scheme != "https" && o.Scheme != "http":
		return Origin{}, errHTTP
	case o.Port == "" && strings.HasSuffix(u.Host, ":"):
		return Origin{}, errPort
	case o.Port == "":
		o.Port = map[string]string{"https": "443", "http": "80"}[o.Scheme]
	}
	if n, err := strconv.ParseUint(o.Port, 10, 16); err != nil || n == 0 {
		return Origin{}, errPort
	}
	return o, nil
}

// OfHost returns the origin of a host, with a port unless it is the usual one, as images name their registries: with
// http on this machine, and with https elsewhere.
func OfHost(host string) (Origin, error) {
	if o, err := Parse("http://" + host); err == nil {
		return o, nil
	}
	return Parse("https://" + host)
}

// IsPrivate reports whether nobody on the way can read what is sent: it has TLS, or does not leave this machine.
func (o Origin) IsPrivate() bool { return o.Scheme == "https" || IsThisMachine(o.Host) }

// IsUsual reports whether the port is the usual one of the scheme.
func (o Origin) IsUsual() bool {
	return o.Scheme == "https" && o.Port == "443" || o.Scheme == "http" && o.Port == "80"
}

// Address returns the address without a path.
func (o Origin) Address() string {
	if o.IsUsual() && strings.Contains(o.Host, ":") {
		return o.Scheme + "://[" + o.Host + "]"
	}
	return o.Scheme + "://" + o.String()
}

// String returns the host, with the port unless it is the usual one.
func (o Origin) String() string {
	if o.IsUsual() {
		return o.Host
	}
	return net.JoinHostPort(o.Host, o.Port)
}

// IsThisMachine reports whether a host is this machine: localhost, or an address of the loopback. A name that a
// name server resolves to one is not: whoever runs the server could move it.
func IsThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
