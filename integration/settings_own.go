package integration

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decode reads the settings into a pointer to a struct with yaml tags. An unknown key and a
// value of another type are mistakes. The error joins one [SettingsError] per mistake.
func (s OwnSettings) Decode(into any) error {
	if s.node == nil {
		return nil
	}
	if s.node.Kind != yaml.MappingNode {
		return s.mistake(s.node.Line, "must be a mapping, got %s", describeNode(s.node))
	}
	errs := s.unknownKeys(reflect.TypeOf(into).Elem())
	err := s.node.Decode(into)
	var types *yaml.TypeError
	switch {
	case errors.As(err, &types):
		for _, text := range types.Errors {
			line := s.node.Line
			if _, scanErr := fmt.Sscanf(text, "line %d:", &line); scanErr == nil {
				_, text, _ = strings.Cut(text, ": ")
			}
			errs = append(errs, s.mistake(line, "%s", text))
		}
	case err != nil:
		errs = append(errs, s.mistake(s.node.Line, "%v", err))
	}
	return errors.Join(errs...)
}

func (s OwnSettings) mistake(line int, format string, args ...any) error {
	return &SettingsError{File: s.File, Line: line, Msg: s.At + ": " + fmt.Sprintf(format, args...)}
}

// unknownKeys returns a mistake for each key that a struct does not have.
func (s OwnSettings) unknownKeys(of reflect.Type) []error {
	var known []string
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
		known = append(known, name)
	}
	var errs []error
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		if key := s.node.Content[i]; !slices.Contains(known, key.Value) {
			errs = append(errs, s.mistake(key.Line, "unknown key %q; the keys are %s", key.Value, strings.Join(known, ", ")))
		}
	}
	return errs
}
