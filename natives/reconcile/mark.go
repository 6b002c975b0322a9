package reconcile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/names"
)

// The names of annotations and labels that make a mark on Kubernetes.
const (
	annotationIntegration = "qontract.integration" // also the name of the label
	annotationVersion     = "qontract.integration_version"
	annotationCaller      = "qontract.caller_name"
)

// The names of tags that make a mark. Others put tagManagedBy on things at AWS: it counts if
// there is no tag of ours.
const (
	tagIntegration = "qontract-integration"
	tagVersion     = "qontract-integration-version"
	tagCaller      = "qontract-caller"
	tagManagedBy   = "managed_by_integration"
)

// maxTag is the maximal length of a tag's value.
const maxTag = 256

// Annotations returns the annotations of an object of Kubernetes with this mark. No mark has
// none. Integration and caller must be UTF-8.
func (m Mark) Annotations() map[string]string {
	out := map[string]string{}
	for name, text := range map[string]string{annotationIntegration: m.Integration, annotationVersion: m.Version,
		annotationCaller: m.Caller} {
		if text != "" {
			out[name] = text
		}
	}
	return out
}

// MarkOfAnnotations returns the mark of an object with these annotations.
func MarkOfAnnotations(annotations map[string]string) Mark {
	return Mark{Integration: annotations[annotationIntegration], Version: annotations[annotationVersion],
		Caller: annotations[annotationCaller]}
}

// Labels returns the labels of an object of Kubernetes with this mark. They help to find the
// objects of an integration; the mark itself is in the annotations.
func (m Mark) Labels() map[string]string {
	if m.Integration == "" {
		return map[string]string{}
	}
	return map[string]string{annotationIntegration: names.LabelValue(m.Integration)}
}

// Selector returns the label selector of all objects of the mark's integration.
func (m Mark) Selector() string {
	return annotationIntegration + "=" + names.LabelValue(m.Integration)
}

// Tags returns the tags of a thing with this mark. Characters that not every cloud accepts
// are escaped. It is an error of class config if a tag would be too long.
func (m Mark) Tags() (map[string]string, error) {
	out := map[string]string{}
	for _, tag := range [][2]string{{tagIntegration, m.Integration}, {tagVersion, m.Version}, {tagCaller, m.Caller}} {
		name, value := tag[0], escapeTag(tag[1])
		if len(value) > maxTag {
			return nil, Config(fmt.Errorf("the tag %s of %.40q would have %d characters, and %d are allowed", name, tag[1],
				len(value), maxTag))
		}
		if value != "" {
			out[name] = value
		}
	}
	return out, nil
}

// MarkOfTags returns the mark of a thing with these tags.
func MarkOfTags(tags map[string]string) Mark {
	m := Mark{Integration: unescapeTag(tags[tagIntegration]), Version: unescapeTag(tags[tagVersion]),
		Caller: unescapeTag(tags[tagCaller])}
	if m == (Mark{}) {
		m.Integration = tags[tagManagedBy]
	}
	return m
}

// escapedInTag matches a byte that escapeTag escaped.
var escapedInTag = lazyregexp.New(`=[0-9A-F]{2}`)

// safeInTag are the characters besides letters and digits that every cloud accepts in a tag.
// A blank is accepted, but not at the ends.
const safeInTag = "_.:/+@- "

// escapeTag returns a text in which each other byte is "=" and two hexadecimal digits.
func escapeTag(text string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		isBlankAtEnd := c == ' ' && (i == 0 || i == len(text)-1)
		if isAlphanumeric(c) || strings.IndexByte(safeInTag, c) >= 0 && !isBlankAtEnd {
			out.WriteByte(c)
		} else {
			_, _ = fmt.Fprintf(&out, "=%02X", c) // a builder takes everything
		}
	}
	return out.String()
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// unescapeTag reverses escapeTag.
func unescapeTag(text string) string {
	return escapedInTag.ReplaceAllStringFunc(text, func(escaped string) string {
		n, _ := strconv.ParseUint(escaped[1:], 16, 8) // two digits
		return string([]byte{byte(n)})
	})
}
