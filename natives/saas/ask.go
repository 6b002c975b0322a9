package saas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A row is an entry of a list as it was answered.
type row struct {
	raw   json.RawMessage
	path  string
	wrong *mistake // what cannot be answered; then raw may lack anything but the path
}

// A mistake says what is wrong with a datafile, and where.
type mistake struct {
	pointer string // JSON pointer, from the root of the datafile
	message string
}

// ask asks for all entries of a list. An entry that cannot be answered as a whole has a mistake;
// other entries are as they are. An error means that nothing of the list is known.
func (l list) ask(ctx context.Context, query integration.QueryFunc, known types) ([]row, error) {
	raw, err := query(ctx, fmt.Sprintf("{ list: %s { %s } }", l.root, l.selection(known)), nil)
	partial := (*integration.AnswerError)(nil)
	isPartial := errors.As(err, &partial)
	if err != nil && !isPartial {
		return nil, fmt.Errorf("asking for %s: %w", l.root, err)
	}
	wrong := map[int]*mistake{}
	if isPartial {
		raw = partial.Data
		if wrong = mistakesIn(partial); wrong == nil {
			return l.askEach(ctx, query, known)
		}
	}
	rows, ok, err := readRows(raw, wrong)
	if err != nil {
		return nil, fmt.Errorf("reading the answer about %s: %w", l.root, err)
	}
	if !ok {
		return l.askEach(ctx, query, known)
	}
	return rows, nil
}

// readRows reads an answer. It returns false if the answer has no list, or an entry is null.
func readRows(raw json.RawMessage, wrong map[int]*mistake) ([]row, bool, error) {
	var answer struct {
		List []*entry `json:"list"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, false, err
	}
	if answer.List == nil {
		return nil, false, nil
	}
	out := make([]row, len(answer.List))
	for i, e := range answer.List {
		if e == nil || e.path == "" {
			return nil, false, nil
		}
		out[i] = row{raw: e.raw, path: e.path, wrong: wrong[i]}
	}
	return out, true, nil
}

// An entry is an entry of a list, of which the path is read alone.
type entry struct {
	raw  json.RawMessage
	path string
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *entry) UnmarshalJSON(raw []byte) error {
	e.raw = bytes.Clone(raw)
	dec := json.NewDecoder(bytes.NewReader(raw))
	for range 2 { // the bracket and the first key: the path is asked for first
		token, err := dec.Token()
		if err != nil {
			return err
		}
		if token == "path" {
			return dec.Decode(&e.path)
		}
	}
	return errors.New("an entry of the answer does not begin with its path")
}

// mistakesIn returns the first mistake of each entry that an answer tells of, by position. It
// returns nil if an error is not about one entry.
func mistakesIn(answer *integration.AnswerError) map[int]*mistake {
	out := map[int]*mistake{}
	for _, f := range answer.Errors {
		if len(f.Path) < 3 || f.Path[0] != "list" {
			return nil
		}
		at, isPosition := f.Path[1].(float64)
		if !isPosition {
			return nil
		}
		if out[int(at)] == nil {
			out[int(at)] = &mistake{pointerOf(f.Path[2:]), f.Message}
		}
	}
	return out
}

// pointerOf returns the path of an error as a JSON pointer.
func pointerOf(path []any) string {
	out := ""
	for _, part := range path {
		out = jsonpointer.Append(out, fmt.Sprint(part))
	}
	return out
}

// askEach asks for the entries of a list one by one. It is for lists with an entry that makes the
// whole answer null.
func (l list) askEach(ctx context.Context, query integration.QueryFunc, known types) ([]row, error) {
	paths, err := integration.Ask[struct {
		List []struct {
			Path string `json:"path"`
		} `json:"list"`
	}](ctx, query, fmt.Sprintf("{ list: %s { path } }", l.root), nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the paths of %s: %w", l.root, err)
	}
	var out []row
	text := fmt.Sprintf("query($path: String) { list: %s(path: $path) { %s } }", l.root, l.selection(known))
	for _, of := range paths.List {
		r := row{path: of.Path, raw: json.RawMessage("{}")}
		raw, err := query(ctx, text, map[string]any{"path": of.Path})
		partial := (*integration.AnswerError)(nil)
		if errors.As(err, &partial) {
			f := partial.Errors[0]
			r.wrong = &mistake{message: f.Message}
			if len(f.Path) > 2 {
				r.wrong.pointer = pointerOf(f.Path[2:])
			}
		} else if err != nil {
			return nil, fmt.Errorf("asking for %s: %w", of.Path, err)
		} else if rows, ok, err := readRows(raw, nil); err != nil || !ok || len(rows) != 1 {
			return nil, fmt.Errorf("asking for %s: %w", of.Path, integration.ErrNotWhole)
		} else {
			r = rows[0]
		}
		out = append(out, r)
	}
	return out, nil
}

// askName asks for the name of a datafile of a list that has a mistake; "" if that is not known
// either.
func (l list) askName(ctx context.Context, query integration.QueryFunc, path string) string {
	answer, err := integration.Ask[struct {
		List []struct {
			Name string `json:"name"`
		} `json:"list"`
	}](ctx, query, fmt.Sprintf("query($path: String) { list: %s(path: $path) { name } }", l.root),
		map[string]any{"path": path})
	if err != nil || len(answer.List) != 1 {
		return ""
	}
	return answer.List[0].Name
}

// finding returns the mistake of a row as a finding.
func (r row) finding() plan.Finding {
	return plan.Finding{Code: reconcile.CodeType, Severity: plan.SeverityError,
		Place: plan.Place{File: r.path, Pointer: r.wrong.pointer}, Message: r.wrong.message}
}

// decode reads the entry of a row. A value that is missing makes the row a mistake.
func decode[T any](r *row) (out T) {
	if r.wrong != nil {
		return out
	}
	err := decodeInto(r.raw, &out)
	if err != nil {
		r.wrong = &mistake{message: err.Error()}
	}
	return out
}

// decodeInto reads an entry. Types that know themselves what they need are read once; for all
// others that is found out by reading the entry another time.
func decodeInto(raw json.RawMessage, out any) error {
	of, ok := out.(interface{ missing() string })
	if !ok {
		return integration.DecodeAnswer(raw, out)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return err
	}
	if name := of.missing(); name != "" {
		return fmt.Errorf("%s is missing: %w", name, integration.ErrNotWhole)
	}
	return nil
}
