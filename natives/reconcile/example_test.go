package reconcile_test

import (
	"context"
	"fmt"
	"log"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// A shelf is a system with books.
type shelf map[reconcile.Key]reconcile.Thing

// Read implements [reconcile.Doer].
func (s shelf) Read(_ context.Context, key reconcile.Key) (*reconcile.Thing, error) {
	if t, ok := s[key]; ok {
		return &t, nil
	}
	return nil, nil
}

// Write implements [reconcile.Doer].
func (s shelf) Write(_ context.Context, step reconcile.Step, _ *reconcile.Thing, mark reconcile.Mark) error {
	if step.Action == reconcile.Remove {
		delete(s, step.Key)
		return nil
	}
	s[step.Key] = reconcile.Thing{Key: step.Key, Body: step.Item.Body, Mark: mark}
	return nil
}

// A dry run is the plan. A wet run executes it.
func Example() {
	me := reconcile.Owner{Integration: "books", Caller: "north", Callers: []string{"north", "south"}}
	there := shelf{
		"atlas": {Key: "atlas", Body: "1st edition", Mark: me.Mark()},
		"bible": {Key: "bible", Body: "old", Mark: reconcile.Mark{Integration: "books", Caller: "south"}},
		"comic": {Key: "comic", Body: "torn", Mark: me.Mark()},
	}
	in := reconcile.Input{
		Owner: me, Class: reconcile.Listing, Gate: reconcile.Gate{Limits: reconcile.DefaultLimits()},
		Desired: []reconcile.Item{{Key: "atlas", Body: "2nd edition"}, {Key: "diary", Body: "new"}},
		Compare: func(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
			if want.Body == is.Body {
				return reconcile.Difference{}, nil
			}
			return reconcile.Difference{Changes: []reconcile.Change{{Path: "/", Old: fmt.Sprint(is.Body),
				New: fmt.Sprint(want.Body)}}}, nil
		},
	}
	for _, t := range there {
		in.Current = append(in.Current, t)
	}
	plan := reconcile.Make(in)
	for _, s := range plan.Steps {
		fmt.Printf("%s %s: %s\n", s.Action, s.Key, s.Reason)
	}
	if _, err := reconcile.Execute(context.Background(), plan, there, nil, reconcile.Options{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(there), "books,", there["atlas"].Body)
	// Output:
	// update atlas: it differs
	// delete comic: no entry names it
	// create diary: it is not there
	// 3 books, 2nd edition
}
