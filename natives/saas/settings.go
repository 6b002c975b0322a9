package saas

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/settings"
)

// Settings are those that all natives of saas files share. A native embeds them in its own.
type Settings struct {
	// Hosts are the only hosts that get credentials which the data name: of repositories,
	// registries, build servers and sources of measurements.
	Hosts []string `yaml:"hosts"`
	// Logins are those of hosts, by name, whatever the data say: for a GitLab that all saas files
	// use, for instance.
	Logins map[string]LoginSecret `yaml:"logins"`
	// Records is the place of the records of promotions, above the folder state of
	// qontract-reconcile: s3://BUCKET or s3://BUCKET/PREFIX. "" is no records.
	Records string `yaml:"records"`
	Soak    Soak   `yaml:"soak"`
	// FIPS makes the identities of targets as qontract-reconcile does in FIPS mode.
	FIPS bool `yaml:"fips"`
}

// A Soak says how the time for which a commit ran is counted over several publishers.
type Soak string

// The ways. Sum is the zero value.
const (
	Sum  Soak = ""     // the times of all publishers together
	Each Soak = "each" // every publisher on its own
	Own  Soak = "own"  // like Sum, and the time of newer commits does not count
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Soak) UnmarshalText(text []byte) error {
	switch string(text) {
	case "sum":
		*s = Sum
	case "each":
		*s = Each
	case "own":
		*s = Own
	default:
		return fmt.Errorf("must be sum, each or own, got %.40q", text)
	}
	return nil
}

// Check returns the first mistake that the types of the settings do not show.
func (s Settings) Check(own settings.Own) error {
	for i, host := range s.Hosts {
		if !isHost(host) {
			return own.Mistake("must be the name of a host in lower case, such as github.com, or with a port that is not the "+
				"usual one, such as github.com:8443", "hosts", fmt.Sprint(i))
		}
	}
	for _, host := range slices.Sorted(maps.Keys(s.Logins)) {
		switch l := s.Logins[host]; {
		case host == "" || strings.ContainsAny(host, "/@: ") || host != strings.ToLower(host):
			return own.Mistake("must be the name of a host in lower case, such as gitlab.example.com", "logins", host)
		case l.Path == "" || l.Field == "":
			return own.Mistake("must have path and field of the secret with its token", "logins", host)
		}
	}
	if s.Records != "" && !strings.HasPrefix(s.Records, "s3://") {
		return own.Mistake("must be s3://BUCKET or s3://BUCKET/PREFIX", "records")
	}
	return nil
}

// isHost reports whether a text is a host of the settings: a name or an address in lower case, perhaps with a port.
func isHost(text string) bool {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.Zone() == ""
	}
	o, err := origin.Parse("https://" + text)
	return err == nil && o.String() == text
}

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
