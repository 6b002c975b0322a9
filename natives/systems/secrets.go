package systems

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/integration"
)

// The bounds of secrets.
const (
	maxSecret  = 64 << 10 // bytes
	maxSecrets = 5000     // that are kept at once
	maxRef     = 1024     // bytes of a path and of a field
	keepSecret = time.Minute
)

// A known is a secret that was read.
type known struct {
	value   string
	until   time.Time
	learned bool // whoever must mask it knows it
}

// Secret returns a secret. The error names it and has a class, see
// [integration.ClassOfFailure].
func (s *Systems) Secret(ctx context.Context, ref integration.SecretRef) (string, error) {
	value, err := s.secret(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("secret %.200q, field %.100q: %w", ref.Path, ref.Field, err)
	}
	return value, nil
}

func (s *shared) secret(ctx context.Context, ref integration.SecretRef) (string, error) {
	if s.source == nil {
		return "", wrong("nobody says where secrets are: name the source under secrets in prcheck.yaml")
	}
	if err := checkRef(ref); err != nil {
		return "", err
	}
	k, err := s.read(ctx, ref)
	if err != nil || k.learned {
		return k.value, err
	}
	s.learn(k.value)
	k.learned = true
	return k.value, s.keep(ref, k)
}

// read returns a secret that whoever must mask it may not know yet.
func (s *shared) read(ctx context.Context, ref integration.SecretRef) (known, error) {
	if k, ok := s.recall(ref); ok {
		return k, nil
	}
	value, err := s.source.read(ctx, ref)
	switch {
	case err != nil:
		return known{}, err
	case value == "":
		return known{}, wrong("it is empty: store a value there")
	case len(value) > maxSecret:
		return known{}, wrong(fmt.Sprintf("it has more than %d bytes", maxSecret))
	}
	return known{value: value, until: s.now().Add(keepSecret)}, nil
}

// recall returns a secret that was read a short time ago.
func (s *shared) recall(ref integration.SecretRef) (known, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.known[ref]
	if !ok || s.now().After(k.until) {
		return known{}, false
	}
	return k, true
}

// keep keeps a secret for a short time.
func (s *shared) keep(ref integration.SecretRef, k known) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxSecrets {
		maps.DeleteFunc(s.known, func(_ integration.SecretRef, k known) bool { return s.now().After(k.until) })
	}
	if _, ok := s.known[ref]; !ok && len(s.known) >= maxSecrets {
		return wrong(fmt.Sprintf("more than %d secrets are asked for within %v", maxSecrets, keepSecret))
	}
	s.known[ref] = k
	return nil
}

// checkRef returns an error if a reference cannot name a secret. Path and field come from the
// data of a change, and become parts of a path of files or of an address.
func checkRef(ref integration.SecretRef) error {
	switch {
	case ref.Path == "" || ref.Field == "":
		return wrong("a secret needs a path and a field")
	case len(ref.Path) > maxRef || len(ref.Field) > maxRef:
		return wrong(fmt.Sprintf("its path or its field has more than %d bytes", maxRef))
	case !isPlain(ref.Path) || !isPlain(ref.Field):
		return wrong("its path or its field has a backslash, a control character or is not UTF-8")
	case strings.Contains(ref.Field, "/") || ref.Field == "." || ref.Field == "..":
		return wrong("its field must be one name, without slashes")
	}
	for part := range strings.SplitSeq(ref.Path, "/") {
		if part == "" || part == "." || part == ".." {
			return wrong("its path must be names between slashes, such as team/creds, without . and ..")
		}
	}
	return nil
}

// isPlain reports whether a text can be a part of a path everywhere.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool {
		return c == '\\' || unicode.IsControl(c)
	})
}
