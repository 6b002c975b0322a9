package render

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/manifests"
)

// Late returns the text that stands for a value that only the run knows. Fill replaces it. That
// no text of the data looks like one is for the caller to check.
func Late(name string) string { return latePrefix + name + "}" }

const latePrefix = "${late:"

var late = lazyregexp.New(`\$\{late:[^}]*\}`)

// isLate reports whether a text holds a value that only the run knows.
func isLate(text string) bool { return strings.Contains(text, latePrefix) }

// Fill returns an object with the values of late parameters. The object is not changed. It is
// an error if a value is missing, or if an image or a quantity is none with its value.
func Fill(object manifests.Object, values map[string]string) (manifests.Object, error) {
	f := lateFiller{values: values}
	filled, _ := f.fill(object).(manifests.Object)
	if f.missing != "" {
		return nil, fmt.Errorf("no value is known for %s", f.missing)
	}
	cleanImages(filled)
	var wrong []error
	before := containers(object)
	for i, c := range containers(filled) {
		wrong = append(wrong, checkFilled(before[i], c))
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return filled, nil
}

// checkFilled checks the image and the quantities of a container that have late values.
func checkFilled(before, is fields) error {
	name := textOf(is["name"])
	if image := textOf(is["image"]); image != before["image"] {
		if err := checkImage(image); err != nil {
			return fmt.Errorf("container %s: %w", name, err)
		}
	}
	was := maps.Collect(containerQuantities(before))
	for path, text := range containerQuantities(is) {
		if err := manifests.CheckQuantity(text); err != nil && text != was[path] {
			return fmt.Errorf("container %s: %s: %w", name, path, err)
		}
	}
	return nil
}

type lateFiller struct {
	values  map[string]string
	missing string // the first name, by the alphabet, that has no value
}

func (f *lateFiller) fill(value any) any {
	switch value := value.(type) {
	case string:
		if !isLate(value) {
			return value
		}
		return late.ReplaceAllStringFunc(value, func(found string) string {
			name := strings.TrimSuffix(strings.TrimPrefix(found, latePrefix), "}")
			text, ok := f.values[name]
			if !ok && (f.missing == "" || name < f.missing) {
				f.missing = name
			}
			return text
		})
	case list:
		out := make(list, len(value))
		for i, item := range value {
			out[i] = f.fill(item)
		}
		return out
	case fields:
		out := make(fields, len(value))
		for key, item := range value {
			out[key] = f.fill(item)
		}
		return out
	}
	return value
}

// textOf returns a value that is a text, "" if it is none.
func textOf(value any) string {
	text, _ := value.(string)
	return text
}
