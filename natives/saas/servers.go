package saas

import (
	"errors"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/origin"
)

// errAddress says that an address of a repository cannot be used.
var errAddress = errors.New("the address of a repository must be https://HOST/PATH, without a user")

// serverOf returns the server at an address, which is none if the address cannot be used.
func serverOf(address string) origin.Origin {
	at, err := origin.Parse(address)
	if err != nil {
		return origin.Origin{}
	}
	return at
}

// registryOf returns the registry of an image, or of a pattern of images. What stands before the first slash is taken
// for its host. It is none if that is no host.
func registryOf(image string) origin.Origin {
	host, _, hasPath := strings.Cut(image, "/")
	if !hasPath {
		host, _, _ = strings.Cut(host, ":")
	}
	at, err := origin.OfHost(host)
	if err != nil {
		return origin.Origin{}
	}
	return at
}

// MayGet reports whether the settings name a host, or HOST:PORT, that gets credentials.
func (s Settings) MayGet(host string) bool { return slices.Contains(s.Hosts, strings.ToLower(host)) }

// mayGet reports whether a server gets credentials: the settings name its host, or its host with its port.
func (s Settings) mayGet(at origin.Origin) bool { return s.MayGet(at.Host) || s.MayGet(at.String()) }

// MayGetAt reports whether a server that the data name gets credentials: it has TLS, and the settings name it.
func (s Settings) MayGetAt(address string) bool {
	at := serverOf(address)
	return at.Scheme == "https" && s.mayGet(at)
}
