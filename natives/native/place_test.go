package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// An entry that is removed from a list is shown at the list, and not at the entry that has its
// index now.
func TestPlaceOfRemovedEntry(t *testing.T) {
	n := native.Make(native.Recipe{
		Name: "books", Class: reconcile.Blind,
		Desired: func(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
			raw, err := query(ctx, "", nil)
			if err != nil {
				return native.Desired{}, err
			}
			p := native.Part{Skip: "it is not asked here"}
			var pointers []string
			err = json.Unmarshal(raw, &pointers)
			for _, pointer := range pointers {
				p.Items = append(p.Items, reconcile.Item{Key: reconcile.Key("k" + pointer),
					Place: plan.Place{File: "/a.yml", Pointer: pointer}})
			}
			return native.Desired{Parts: []native.Part{p}}, err
		},
	})
	var got []string
	env := integration.Environment{
		Query: answer(`["/kept"]`), Base: answer(`["/kept", "", "/books/12", "/books/3/name", "/shelves/a~1b/delete"]`),
		Report: func(f integration.Remark) {
			if f.Code == reconcile.CodeOrphan {
				got = append(got, f.File+f.Pointer)
			}
		},
	}
	if err := n.DryRun(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	if want := "[/a.yml /a.yml/books /a.yml/books /a.yml/shelves/a~1b/delete]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
