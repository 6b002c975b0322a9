package render

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/saas"
)

// The secrets of a target, by what names them.
type secrets struct {
	shown  map[integration.SecretRef]string // values, or marks where no value is read
	hidden map[integration.SecretRef]string // what stands in their place to find out where they are
	marks  map[integration.SecretRef]string // placeholders that tell which secret they stand for
	token  string                           // all marks begin with it
}

func (s *secrets) value(p saas.SecretParameter) string       { return s.shown[p.Secret] }
func (s *secrets) placeholder(p saas.SecretParameter) string { return s.hidden[p.Secret] }

// readSecrets makes placeholders for all secrets of the target, and reads the secrets if there is a
// source of them.
func (r *renderer) readSecrets(ctx context.Context) error {
	s := &secrets{marks: map[integration.SecretRef]string{}, token: r.token()}
	r.secrets = s
	values, others := map[integration.SecretRef]string{}, map[integration.SecretRef]string{}
	for _, l := range layersOf(r.in.Target) {
		for _, p := range l.secrets {
			if _, isKnown := s.marks[p.Secret]; isKnown {
				continue
			}
			n := strconv.Itoa(len(s.marks))
			s.marks[p.Secret], others[p.Secret] = s.token+n+"END", digitsOf(s.token+n)
			isAllowed, err := r.isAllowed(p)
			switch {
			case err != nil:
				return err
			case r.in.Secret == nil:
				continue
			case !isAllowed:
				values[p.Secret] = "not-read-before-the-merge"
				continue
			}
			if values[p.Secret], err = r.in.Secret(ctx, p.Secret); err != nil {
				return fmt.Errorf("reading the secret of the parameter %.100q: %w", p.Name, err)
			}
		}
	}
	if s.shown, s.hidden = values, s.marks; r.in.Secret == nil {
		s.shown, s.hidden = s.marks, others
	}
	return nil
}

// isAllowed reports whether a secret may be read, and says for people if it may not be read yet.
func (r *renderer) isAllowed(p saas.SecretParameter) (bool, error) {
	if r.in.Allowed == nil {
		return true, nil
	}
	err := r.in.Allowed(p.Secret)
	if errors.Is(err, integration.ErrUntrusted) {
		r.out.Unchecked = append(r.out.Unchecked, fmt.Sprintf("the secret of the parameter %.100q, path %.200q: %v", p.Name,
			p.Secret.Path, integration.ErrUntrusted))
		return false, nil
	}
	return err == nil, err
}

// digitsOf returns eight digits that follow from a text. They are a number, and also base64 and
// hexadecimal, so what needs one of these takes them.
func digitsOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strconv.FormatUint(10_000_000+binary.BigEndian.Uint64(sum[:])%90_000_000, 10)
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
	var shown, safe *TargetMistake
	switch {
	case !errors.As(err, &shown):
		return err // of a service
	case errors.As(hidden, &safe) && safe.Code == shown.Code:
		return &TargetMistake{safe.Code, safe.Pointer, s.hide(safe.Message)}
	}
	return &TargetMistake{shown.Code, shown.Pointer, "it cannot be rendered with the values of its secrets, and why is " +
		"not told here, since that could show one"}
}

// hide replaces placeholders.
func (s *secrets) hide(text string) string {
	for _, other := range s.hidden {
		if !strings.HasPrefix(other, s.token) {
			text = strings.ReplaceAll(text, other, mask)
		}
	}
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

// The beginnings of names. A text that has one of its own is escaped, so that it is no name.
const (
	nameOfSecret = "(secret "
	nameOfBase64 = "(base64 "
)

// names returns a text with names of secrets in place of their placeholders, also in base64. No two texts become
// the same one.
func (s *secrets) names(text string) string {
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && strings.Contains(string(raw), s.token) {
		return nameOfBase64 + s.names(string(raw)) + ")"
	}
	if !strings.Contains(text, s.token) && !strings.Contains(text, nameOfSecret) && !strings.Contains(text, nameOfBase64) {
		return text
	}
	pairs := []string{`\`, `\\`, "(", `\(`}
	for ref, mark := range s.marks {
		pairs = append(pairs, mark, nameOf(ref))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// nameOf returns the name of a secret for people.
func nameOf(ref integration.SecretRef) string {
	return fmt.Sprintf("%s%q %q %q)", nameOfSecret, ref.Path, ref.Field, ref.Version)
}

// usedIn returns the names of the secrets that a value with names holds, sorted.
func (s *secrets) usedIn(named any) []string {
	raw := string(encode(named))
	var out []string
	for ref := range s.marks {
		name := nameOf(ref)
		if quoted := string(encode(name)); strings.Contains(raw, quoted[1:len(quoted)-1]) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
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
