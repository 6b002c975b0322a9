package render

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integrations/saas"
	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// The secrets of a target, by what names them.
type secrets struct {
	values       map[integration.SecretRef]string
	placeholders map[integration.SecretRef]string
	token        string // all placeholders begin with it
}

func (s *secrets) value(p saas.SecretParameter) string       { return s.values[p.Secret] }
func (s *secrets) placeholder(p saas.SecretParameter) string { return s.placeholders[p.Secret] }

// readSecrets reads all secrets of the target, and makes a placeholder for each.
func (r *renderer) readSecrets(ctx context.Context) error {
	s := &secrets{values: map[integration.SecretRef]string{}, placeholders: map[integration.SecretRef]string{}, token: r.token()}
	r.secrets = s
	for _, l := range layersOf(r.in.Target) {
		for _, p := range l.secrets {
			if _, isRead := s.values[p.Secret]; isRead {
				continue
			}
			s.placeholders[p.Secret] = s.token + strconv.Itoa(len(s.placeholders)) + "END"
			value, err := r.readSecret(ctx, p)
			if err != nil {
				return err
			}
			s.values[p.Secret] = value
		}
	}
	return nil
}

// readSecret reads one secret. One that is not to be read yet is text for people.
func (r *renderer) readSecret(ctx context.Context, p saas.SecretParameter) (string, error) {
	if r.in.Secret == nil {
		return "", fmt.Errorf("reading the secret of the parameter %.100q: there is no source of secrets", p.Name)
	}
	value, err := r.in.Secret(ctx, p.Secret)
	switch {
	case errors.Is(err, integration.ErrUntrusted):
		r.out.Unchecked = append(r.out.Unchecked, fmt.Sprintf("the secret of the parameter %.100q, path %.200q: %v", p.Name, p.Secret.Path, integration.ErrUntrusted))
		return "not-read-before-the-merge", nil
	case err != nil:
		return "", fmt.Errorf("reading the secret of the parameter %.100q: %w", p.Name, err)
	}
	return value, nil
}

// token returns a text that occurs neither in the template nor in the parameters, because it
// follows from all of them. It does not follow from a secret.
func (r *renderer) token() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		_, _ = fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(r.files[name])) // never fails
		_, _ = h.Write(r.files[name])
	}
	for _, l := range layersOf(r.in.Target) {
		if l.parameters != nil {
			_, _ = io.WriteString(h, *l.parameters)
		}
	}
	return fmt.Sprintf("PLACEHOLDER%xN", h.Sum(nil)[:12])
}

// clean returns an error of the rendering with values of secrets as one without them: the error
// of the rendering with placeholders, if that failed as well.
func (s *secrets) clean(err, hidden error) error {
	var shown, safe *Mistake
	switch {
	case !errors.As(err, &shown):
		return err // of a service
	case errors.As(hidden, &safe) && safe.Code == shown.Code:
		return &Mistake{safe.Code, safe.Pointer, s.hide(safe.Message)}
	}
	return &Mistake{shown.Code, shown.Pointer, "it cannot be rendered with the values of its secrets, and why is not told here, since that could show one"}
}

// hide replaces placeholders.
func (s *secrets) hide(text string) string {
	for {
		begin := strings.Index(text, s.token)
		if begin < 0 {
			return text
		}
		end := begin + len(s.token)
		for end < len(text) && '0' <= text[end] && text[end] <= '9' {
			end++
		}
		text = text[:begin] + mask + strings.TrimPrefix(text[end:], "END")
	}
}

// named returns a copy of a value with names of secrets in place of their placeholders, in texts and
// in keys of maps. The placeholders of two targets differ, and the names do not.
func (s *secrets) named(value any) any {
	switch is := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(is))
		for key, item := range is {
			out[s.names(key)] = s.named(item)
		}
		return out
	case []any:
		out := make([]any, len(is))
		for i, item := range is {
			out[i] = s.named(item)
		}
		return out
	case string:
		return s.names(is)
	}
	return value
}

// names returns a text with names of secrets in place of their placeholders.
func (s *secrets) names(text string) string {
	if !strings.Contains(text, s.token) {
		return text
	}
	for ref, placeholder := range s.placeholders {
		text = strings.ReplaceAll(text, placeholder, fmt.Sprintf("(secret %q %q %q)", ref.Path, ref.Field, ref.Version))
	}
	return text
}

// places returns the places of an object that depend on secrets: those at which the object with
// values and the one with placeholders differ, and those that have a placeholder. The keys of a
// map that differ make the whole map such a place.
func (s *secrets) places(shown, hidden any, at string) []string {
	switch is := shown.(type) {
	case map[string]any:
		other, ok := hidden.(map[string]any)
		if !ok || !haveSameKeys(is, other) {
			return []string{at}
		}
		var out []string
		for _, key := range slices.Sorted(maps.Keys(is)) {
			out = append(out, s.places(is[key], other[key], jsonpointer.Append(at, key))...)
		}
		return out
	case []any:
		other, ok := hidden.([]any)
		if !ok || len(is) != len(other) {
			return []string{at}
		}
		var out []string
		for i := range is {
			out = append(out, s.places(is[i], other[i], at+"/"+strconv.Itoa(i))...)
		}
		return out
	}
	text, _ := shown.(string)
	switch hidden.(type) {
	case map[string]any, []any:
		return []string{at}
	}
	if shown != hidden || strings.Contains(text, s.token) {
		return []string{at}
	}
	return nil
}

func haveSameKeys(a, b map[string]any) bool {
	for key := range a {
		if _, ok := b[key]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}
