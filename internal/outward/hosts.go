package outward

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/origin"
)

// Hosts are the servers that settings name, and the one place that decides who may be asked and who gets credentials.
// HOST is a host in lower case: at its usual port, and at each port with which data name it. HOST:PORT is one port.
// *.HOST, where patterns are allowed, is each host below.
type Hosts []string

// Mistake returns the index of the first text that names no host, and what it must be; -1 if there is none.
func (h Hosts) Mistake(arePatterns bool) (at int, must string) {
	must = "must be the name of a host in lower case, such as github.com, or with a port that is not the usual one, such " +
		"as github.com:8443"
	if arePatterns {
		must += "; *.example.com is each host below"
	}
	at = slices.IndexFunc(h, func(text string) bool {
		if below, isPattern := strings.CutPrefix(text, "*."); isPattern && arePatterns {
			text = below
		}
		if ip, err := netip.ParseAddr(text); err == nil {
			return ip.Zone() != "" || ip.String() != text
		}
		o, err := origin.Parse("https://" + text)
		return err != nil || o.String() != text
	})
	return at, must
}

// Name reports whether the settings name the host of a server that data name, with this port or without one.
func (h Hosts) Name(at origin.Origin) bool { return slices.ContainsFunc(h, named(at)) }

// NameExactly reports whether the settings name a server that nobody else names: its host if the port is the usual one,
// or the host with its port.
func (h Hosts) NameExactly(at origin.Origin) bool {
	return at.Host != "" && slices.Contains(h, at.String())
}

// Unused returns the hosts that name none of some servers.
func (h Hosts) Unused(of []origin.Origin) (out []string) {
	for _, text := range h {
		if !slices.ContainsFunc(of, func(at origin.Origin) bool { return Hosts{text}.Name(at) }) {
			out = append(out, text)
		}
	}
	return out
}

// named returns what reports whether a text of the settings names a server.
func named(at origin.Origin) func(string) bool {
	return func(text string) bool {
		if below, isPattern := strings.CutPrefix(text, "*"); isPattern {
			return strings.HasSuffix(at.Host, below)
		}
		return at.Host != "" && (text == at.Host || text == at.String())
	}
}

// MayAsk returns why nobody asks a server before the merge of a change, nil if it is asked: the data of base name it
// with its port, or the settings do. The name of a server could have a secret that the change knows, so it is refused
// before the name is looked up.
func (h Hosts) MayAsk(at origin.Origin, isOfBase func(origin.Origin) bool) error {
	if h.NameExactly(at) || isOfBase(at) {
		return nil
	}
	return &RefusedError{fmt.Sprintf("%.100q is not asked before the merge, since neither base nor the settings name it: "+
		"add it to hosts in the settings of base, if it is trusted", at)}
}
