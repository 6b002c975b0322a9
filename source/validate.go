package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/live"
	"github.com/app-sre/prcheck/validator"
)

// maxText is the size in bytes up to which a file of a checkout is read, to
// find the lines of findings.
const maxText = 16 << 20

// Names is what findings call the files of the folders; a part that is "" is not
// there.
func (f Folders) Names() validator.Names {
	return validator.Names{
		validator.Data: f.Data, validator.Resources: f.Resources,
		validator.Schemas: f.Schemas, validator.GraphQL: f.GraphQL,
	}
}

// Read returns the text of a file of a section. No link leads out of the
// section's folder.
func (f Folders) Read(s validator.Section, p bundle.Path) ([]byte, error) {
	dir := f.Names()[s]
	name := "." + filepath.FromSlash(string(p))
	if s == validator.GraphQL {
		dir, name = filepath.Dir(dir), filepath.Base(dir)
	}
	if f.Names()[s] == "" {
		return nil, errors.New("the checkout has no such part")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return nil, fmt.Errorf("%s is no file of at most 16 MiB", p)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxText))
}

// A Validation says how much of head is checked before something is made from
// it. The zero value checks what changed when head is a checkout, and nothing
// otherwise: bundle files were checked when they were made.
type Validation struct{ word string }

func (v *Validation) String() string { return cmp.Or(v.word, "auto") }

// Set reads a word of the flag.
func (v *Validation) Set(word string) error {
	if !slices.Contains([]string{"auto", "all", "changed", "none"}, word) {
		return errors.New("must be auto, all, changed or none")
	}
	v.word = word
	return nil
}

// Type is what help calls the value.
func (v *Validation) Type() string { return "auto|all|changed|none" }

func (v *Validation) scope(ref string) validator.Scope {
	switch v.String() {
	case "all":
		return validator.All
	case "changed":
		return validator.Changed
	case "auto":
		if IsCheckout(ref) {
			return validator.Changed
		}
	}
	return validator.None
}

// Checked opens what a plan is made from and checks head first. Its mistakes go
// to stderr, one a line; then the error is [cli.ErrFailed].
func (in Inputs) Checked(ctx context.Context, env cli.Env, v Validation) (*Change, error) {
	c, err := in.Open(ctx, env)
	scope := v.scope(in.Head)
	if scope == validator.None || live.Is(in.Head) {
		return c, err
	}
	if err == nil {
		return c, in.opener(env, c.rules).check(ctx, env.Stderr, in.Head, c.Base, c.Head, scope)
	}
	// Perhaps a datafile has no $schema, which no bundle may lack: then all of
	// them are told, with their lines.
	open, trouble := in.Opener(ctx, env)
	if trouble != nil || ctx.Err() != nil {
		return nil, err
	}
	base, trouble := open.Unchecked(ctx, in.Base, nil)
	if trouble != nil {
		return nil, err
	}
	head, trouble := open.Unchecked(ctx, in.Head, base)
	if trouble != nil {
		return nil, err
	}
	if trouble := open.check(ctx, env.Stderr, in.Head, base, head, scope); trouble != nil {
		return nil, trouble
	}
	return nil, err
}

// check checks a bundle of a reference. base may be nil for the scope All.
func (o Opener) check(ctx context.Context, w io.Writer, ref string, base, head *bundle.Bundle, scope validator.Scope) error {
	var texts Texts
	if IsCheckout(ref) {
		var err error
		if texts, err = o.Texts(ctx, ref); err != nil {
			return err
		}
	}
	return Validate(ctx, w, base, head, scope, texts)
}

// Validate checks head before something is made from it and writes what it
// finds to w. Findings are [cli.ErrFailed]. base may be nil for the scope All;
// the zero Texts leave findings without lines.
func Validate(ctx context.Context, w io.Writer, base, head *bundle.Bundle, scope validator.Scope, from Texts) error {
	r, err := Findings(ctx, base, head, scope, from)
	if err != nil {
		return err
	}
	if err := r.WriteText(w, from.Names); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return cli.ErrFailed
	}
	return nil
}

// Check checks the bundle that was made of the folders, as write gives it. Its
// mistakes go to w; then the error is [cli.ErrFailed].
func (f Folders) Check(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	var raw bytes.Buffer
	if err := write(&raw); err != nil {
		return err
	}
	head, err := bundle.ParseUnchecked(raw.Bytes(), nil)
	if err != nil {
		return cli.Invalid(fmt.Errorf("reading the bundle: %w", err))
	}
	return Validate(ctx, w, nil, head, validator.All, f.Texts())
}

// Findings checks head and finds the lines of what it finds.
func Findings(ctx context.Context, base, head *bundle.Bundle, scope validator.Scope, from Texts) (*validator.Report, error) {
	r, err := validator.Check(ctx, head, validator.Options{Base: base, Scope: scope})
	if err != nil {
		return nil, err
	}
	if from.Read != nil {
		r.Locate(head, from.Read)
	}
	return r, nil
}

// Unchecked opens a bundle for validation: it may hold datafiles without
// $schema. All errors are of the user's making.
func (o Opener) Unchecked(ctx context.Context, ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	return o.parsed(ctx, ref, func(raw []byte) (*bundle.Bundle, error) { return bundle.ParseUnchecked(raw, like) })
}
