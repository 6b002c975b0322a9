package rounds

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/validator"
)

// Places find lines in the files that a bundle was made from. Only a checkout has files.
type places struct {
	open   source.Opener
	ref    string
	folder string // of the datafiles, in the checkout
	bundle *bundle.Bundle

	read  func(s validator.Section, p bundle.Path) ([]byte, error) // nil: not opened yet
	texts map[bundle.Path]*validator.Text                          // nil: cannot be used
}

func newPlaces(open source.Opener, ref string, settings *integration.Settings, b *bundle.Bundle) *places {
	p := &places{open: open, ref: ref, bundle: b, texts: map[bundle.Path]*validator.Text{}}
	if at := settings.Checkout(); source.IsCheckout(ref) && !integration.IsOutside(at.Data) {
		p.folder = at.Data
	}
	return p
}

// find returns the file in the checkout and the line, or the path of the datafile if there is no
// checkout.
func (p *places) find(ctx context.Context, file, pointer string) string {
	if _, ok := p.bundle.Datafile(bundle.Path(file)); p.folder == "" || !ok {
		return file
	}
	where := path.Join(p.folder, file)
	if text := p.text(ctx, bundle.Path(file)); text != nil {
		line, _ := text.At(pointer)
		where = fmt.Sprintf("%s:%d", where, line)
	}
	return where
}

// text returns the text of a datafile, nil if it cannot be read, or if it is not the text that
// the bundle was made from: its lines would be wrong.
func (p *places) text(ctx context.Context, name bundle.Path) *validator.Text {
	if text, known := p.texts[name]; known {
		return text
	}
	p.texts[name] = nil
	if p.read == nil {
		if texts, err := p.open.Texts(ctx, p.ref); err == nil && texts.Read != nil {
			p.read = texts.Read
		} else {
			p.read = func(validator.Section, bundle.Path) ([]byte, error) { return nil, fmt.Errorf("no files: %w", err) }
		}
	}
	file, ok := p.bundle.Datafile(name)
	raw, err := p.read(validator.Data, name)
	if !ok || err != nil {
		return nil
	}
	if sum := file.Object().String("$file_sha256sum"); sum != "" && sum != fmt.Sprintf("%x", sha256.Sum256(raw)) {
		return nil
	}
	p.texts[name], _ = validator.ParseText(raw)
	return p.texts[name]
}
