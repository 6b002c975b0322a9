package change

import (
	"context"
	"io"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/source"
)

// Validation returns the flag that says how much of head is checked for mistakes first. Auto
// checks what changed when head is a checkout, and nothing otherwise: a bundle file was
// checked when it was made.
func Validation() cli.Choice { return cli.OneOf("auto", "all", "changed", "none") }

func scopeOf(validation cli.Choice, ref string) validator.Scope {
	switch word := validation.String(); {
	case source.IsLive(ref):
		return validator.None // it has no files
	case word == "all":
		return validator.All
	case word == "changed", word == "auto" && source.IsCheckout(ref):
		return validator.Changed
	}
	return validator.None
}

// OpenChecked opens the change and checks head for mistakes. They go to stderr, one a line;
// then the error is [cli.ErrFailed].
func (in Inputs) OpenChecked(ctx context.Context, env cli.Env, validation cli.Choice) (*Change, error) {
	c, err := in.Open(ctx, env)
	scope := scopeOf(validation, in.Head)
	if scope == validator.None {
		return c, err
	}
	if err == nil {
		return c, check(ctx, env.Stderr, in.opener(env, c.settings), in.Head, c.Head,
			validator.Options{Base: c.Base, Scope: scope})
	}
	// Perhaps a datafile has no $schema, without which no bundle is opened. Then all such
	// mistakes are told, with their lines.
	open, trouble := in.Opener(ctx, env)
	if trouble != nil || ctx.Err() != nil || in.Base == "" {
		return nil, err
	}
	base, head, trouble := open.UncheckedPair(ctx, in.Base, in.Head)
	if trouble != nil {
		return nil, err
	}
	if trouble := check(ctx, env.Stderr, open, in.Head, head,
		validator.Options{Base: base, Scope: scope}); trouble != nil {
		return nil, trouble
	}
	return nil, err
}

// check checks the bundle of a reference. The files of the reference are opened when there
// is a mistake.
func check(ctx context.Context, w io.Writer, open source.Opener, ref string, head *bundle.Bundle,
	o validator.Options) error {
	r, err := validator.Check(ctx, head, o)
	if err != nil || len(r.Findings) == 0 {
		return err
	}
	texts, err := open.Texts(ctx, ref)
	if err != nil {
		return err
	}
	return tell(w, r, head, texts)
}

// Validate checks head and writes its mistakes to w; then the error is [cli.ErrFailed]. The
// zero Texts leave findings without lines.
func Validate(ctx context.Context, w io.Writer, head *bundle.Bundle, o validator.Options, from source.Texts) error {
	r, err := validator.Check(ctx, head, o)
	if err != nil {
		return err
	}
	return tell(w, r, head, from)
}

// tell writes the mistakes of head to w; then the error is [cli.ErrFailed].
func tell(w io.Writer, r *validator.Report, head *bundle.Bundle, from source.Texts) error {
	from.Locate(r, head)
	if err := r.WriteText(w, from.Names); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return cli.ErrFailed
	}
	return nil
}
