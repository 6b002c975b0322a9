package saas

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// known are types that have what the tests ask for. They lack what [fileList] asks for beside.
var known = types{"SaasFile_v2": {"path": true, "name": true}}

// A list whose answer is null, or has an error that is about no entry, is asked for entry by entry.
func TestAskEach(t *testing.T) {
	l := list{"roots", fileList.of}
	partial := func(data string, path ...any) error {
		return &integration.AnswerError{Data: []byte(data), Errors: []integration.FieldError{{Message: "wrong", Path: path}}}
	}
	for name, first := range map[string]error{
		"null":                  partial(`{"list":null}`, "list", 1.0, "name"),
		"the list":              partial(`{"list":[]}`, "list"),
		"an entry":              partial(`{"list":[]}`, "list", 1.0),
		"no position":           partial(`{"list":[]}`, "list", "x", "name"),
		"an entry that is null": partial(`{"list":[{"path":"/a","name":"a"},null]}`, "list", 1.0, "name"),
	} {
		query := func(_ context.Context, text string, variables map[string]any) ([]byte, error) {
			switch {
			case strings.Contains(text, "app"):
				return nil, errors.New("a field was asked for that does not exist")
			case variables["path"] == "/a":
				return []byte(`{"list":[{"path":"/a","name":"a"}]}`), nil
			case variables["path"] == "/b":
				return nil, partial(`{"list":null}`, "list", 0.0, "name")
			case text == "{ list: roots { path } }":
				return []byte(`{"list":[{"path":"/a"},{"path":"/b"}]}`), nil
			}
			return nil, first
		}
		rows, err := l.ask(t.Context(), query, known)
		if err != nil || len(rows) != 2 || rows[0].wrong != nil || rows[1].wrong == nil ||
			*rows[1].wrong != (mistake{"/name", "wrong"}) {
			t.Errorf("%s: got %+v, %v", name, rows, err)
		}
	}
}

// An answer that does not come, or is not whole, is an error.
func TestAskRefuses(t *testing.T) {
	l := list{"roots", fileList.of}
	for name, answers := range map[string]func(variables map[string]any) (string, error){
		"no answer": func(map[string]any) (string, error) { return "", errors.New("down") },
		"no JSON":   func(map[string]any) (string, error) { return "{", nil },
		"no list":   func(map[string]any) (string, error) { return "{}", nil },
		"another answer to each": func(v map[string]any) (string, error) {
			if v == nil {
				return `{"list":null}`, nil
			}
			return `{"list":[]}`, nil
		},
		"entries without path": func(map[string]any) (string, error) { return `{"list":[{"name":"x"}]}`, nil },
	} {
		query := func(_ context.Context, _ string, v map[string]any) ([]byte, error) {
			text, err := answers(v)
			return []byte(text), err
		}
		if rows, err := l.ask(t.Context(), query, known); err == nil {
			t.Errorf("%s: got %+v", name, rows)
		}
	}
}

// Read tells which list could not be read, and returns nothing.
func TestReadFails(t *testing.T) {
	query := func(_ context.Context, text string, _ map[string]any) ([]byte, error) {
		if strings.Contains(text, "__type") {
			return []byte("{}"), nil
		}
		return nil, errors.New("down")
	}
	if m, err := Read(t.Context(), query, Settings{}); err == nil || !strings.Contains(err.Error(), "saas_files_v2") ||
		m != nil {
		t.Errorf("got %v, %v", m, err)
	}
}
