package rounds

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// placesOf returns a function that finds the file of a place in the checkout and its line, or the
// path of the datafile if there is no checkout. It opens the files when it is called first.
func placesOf(open source.Opener, ref string, rules *settings.Settings, b *bundle.Bundle) func(ctx context.Context,
	file, pointer string) string {
	var finder *lines.Finder
	return func(ctx context.Context, file, pointer string) string {
		if _, ok := b.Datafile(bundle.Path(file)); !ok || !source.IsCheckout(ref) {
			return file
		}
		if finder == nil {
			texts, err := open.Texts(ctx, ref)
			if err != nil {
				texts = source.Texts{} // the first line of each file then
			}
			finder = lines.New(lines.Files{Checkout: rules.Checkout(), Read: texts.Read}, nil, b)
		}
		at := finder.Find(file, pointer)
		if at.Path == "" {
			return file
		}
		return fmt.Sprintf("%s:%d", at.Path, at.Line)
	}
}
