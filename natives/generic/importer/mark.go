package importer

import (
	"fmt"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// CheckMark returns an error if a resource has the mark of somebody else: it is told, and not taken.
func CheckMark(is, ours reconcile.Mark) error {
	if is == (reconcile.Mark{}) || is == ours {
		return nil
	}
	return reconcile.Config(fmt.Errorf("%s: it has the mark of %.100q (%.100q)", reconcile.CodeOwnedByOther,
		is.Integration, is.Caller))
}
