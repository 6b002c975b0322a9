package registry

import (
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/origin"
)

// A reference is the name of an image in its parts.
type reference struct {
	host       string
	repository string
	tag        string // tag or digest
}

// The parts of names, as the distribution API has them.
var (
	hostForm       = lazyregexp.New(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?$`)
	repositoryForm = lazyregexp.New(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm        = lazyregexp.New(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
	digestForm     = lazyregexp.New(`^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$`)
)

// maxName bounds the length of the name of an image.
const maxName = 512

// parse takes the name of an image apart. Without a host it is one of Docker Hub, and without a
// tag it is the tag latest.
func parse(image string) (r reference, ok bool) {
	if len(image) > maxName {
		return r, false
	}
	name, digest, hasDigest := strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, r.tag = name[:i], name[i+1:]
		if !tagForm.MatchString(r.tag) {
			return r, false
		}
	}
	switch {
	case hasDigest && !digestForm.MatchString(digest):
		return r, false
	case hasDigest:
		r.tag = digest
	case r.tag == "":
		r.tag = "latest"
	}
	host, rest, hasHost := strings.Cut(name, "/")
	switch {
	case hasHost && (strings.ContainsAny(host, ".:") || host == "localhost"):
		r.host, r.repository = strings.ToLower(host), rest
	case hasHost:
		r.host, r.repository = hub, name
	default:
		r.host, r.repository = hub, "library/"+name
	}
	if r.host == "docker.io" || r.host == "index.docker.io" {
		r.host = hub
	}
	if r.host == hub && !strings.Contains(r.repository, "/") {
		r.repository = "library/" + r.repository
	}
	_, err := origin.OfHost(r.host)
	return r, err == nil && hostForm.MatchString(r.host) && repositoryForm.MatchString(r.repository)
}

// registry returns where the registry of the image is.
func (r reference) registry() origin.Origin {
	at, _ := origin.OfHost(r.host) // parse has looked
	return at
}

// address returns where the registry has the image.
func (r reference) address() string {
	return r.registry().Address() + "/v2/" + r.repository + "/manifests/" + r.tag
}

// hub is the host of Docker Hub's registry.
const hub = "registry-1.docker.io"
