package hooks

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
)

// defaultTimeout is how long one hook may take for one resource, reads included.
const defaultTimeout = 10 * time.Second

// A Registry holds hooks. It is safe for concurrent use.
type Registry struct {
	hooks   []*Hook // sorted by name
	timeout time.Duration

	mu   sync.Mutex
	left map[*Hook]int // calls that were given up and still run
}

// New returns a registry of hooks, each of which may take so long; 0 is the default of ten
// seconds. A hook without name, two of one name, a broken pattern or a hook that does nothing
// is an error.
func New(timeout time.Duration, all ...*Hook) (*Registry, error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	r := &Registry{hooks: slices.Clone(all), timeout: timeout}
	slices.SortFunc(r.hooks, func(a, b *Hook) int { return strings.Compare(a.Name, b.Name) })
	for i, h := range r.hooks {
		_, err := path.Match(glob(h), "x")
		switch {
		case h.Name == "" || h.Types == "":
			return nil, errors.New("a hook needs a name and types")
		case i > 0 && r.hooks[i-1].Name == h.Name:
			return nil, fmt.Errorf("there are two hooks %q", h.Name)
		case err != nil:
			return nil, fmt.Errorf("hook %q: the pattern %q is broken", h.Name, h.Types)
		case len(h.Stages()) == 0:
			return nil, fmt.Errorf("hook %q does nothing", h.Name)
		}
	}
	return r, nil
}

// Default returns the registry of the hooks that are a part of the program.
func Default() *Registry {
	r, err := New(0, Shipped()...)
	if err != nil {
		panic(err) // the tests hold that it cannot be
	}
	return r
}

// Hooks returns all hooks, sorted by name.
func (r *Registry) Hooks() []*Hook { return slices.Clone(r.hooks) }

// CheckName reports whether the data of a resource of a type may name a hook. The error says
// why not, with the nearest name.
func (r *Registry) CheckName(typeName, name string) error {
	var names []string
	for _, h := range r.hooks {
		if h.Name == name && !h.isAbout(typeName) {
			return fmt.Errorf("the hook %q is about %s, not about %s", name, h.Types, withoutVersion(typeName))
		}
		if h.Name == name {
			return nil
		}
		if h.isAbout(typeName) {
			names = append(names, h.Name)
		}
	}
	message := fmt.Sprintf("there is no hook %q", phrase.Cut(name, maxName))
	if near := suggest.Words(phrase.Cut(name, maxName), names, 1+len(name)/4); len(near) > 0 {
		message += fmt.Sprintf("; do you mean %q?", near[0])
	} else if len(names) > 0 {
		message += "; there is " + strings.Join(names, ", ")
	}
	return errors.New(message)
}

// of returns the hooks that run for a resource.
func (r *Registry) of(x Subject) []*Hook {
	if r == nil {
		return nil
	}
	var out []*Hook
	for _, h := range r.hooks {
		if h.isAbout(x.Type) && (!h.ByName || slices.Contains(x.Named, h.Name)) {
			out = append(out, h)
		}
	}
	return out
}

func withoutVersion(typeName string) string {
	name, _, _ := strings.Cut(typeName, "@")
	return name
}

func glob(h *Hook) string { return strings.TrimSuffix(strings.ToLower(h.Types), "/**") }

func (h *Hook) isAbout(typeName string) bool {
	name := strings.ToLower(withoutVersion(typeName))
	if strings.HasSuffix(h.Types, "/**") {
		parts, most := strings.Split(name, "/"), strings.Count(glob(h), "/")+1
		if len(parts) <= most {
			return false
		}
		name = strings.Join(parts[:most], "/")
	}
	isMatch, err := path.Match(glob(h), name)
	return err == nil && isMatch
}

// maxName is the length in bytes up to which a name of the data is told.
const maxName = 100
