package change_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/source"
)

func TestValidate(t *testing.T) {
	b, err := bundle.Parse([]byte(`{"data": {"/a.yml": {"$schema": "/gone.yml"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = change.Validate(t.Context(), &out, b, validator.Options{Scope: validator.All}, source.Texts{})
	const want = "data/a.yml: FILE/SCHEMA_NOT_FOUND: /$schema: \"/gone.yml\" is not the path of a schema\n1 finding\n"
	if !errors.Is(err, cli.ErrFailed) || out.String() != want {
		t.Errorf("got %v and %q, want %q", err, &out, want)
	}
	out.Reset()
	if err := change.Validate(t.Context(), &out, b, validator.Options{Base: b, Scope: validator.Changed},
		source.Texts{}); err != nil || out.Len() > 0 {
		t.Errorf("nothing changed, got %v and %q", err, &out)
	}
}
