package lease_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/lease"
)

// Two tasks at most use the account at once, and ten start in any minute.
func ExampleHold() {
	folder, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	store, err := state.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	account := lease.Limit{Key: "aws/app-sre", Max: 2, Rate: lease.Rate{Count: 10, Per: time.Minute}}
	err = lease.Hold(context.Background(), store, []lease.Limit{account}, func(ctx context.Context) error {
		fmt.Println("it is our turn")
		return ctx.Err() // it would end with lease.ErrLost as its cause
	})
	fmt.Println(err)
	// Output:
	// it is our turn
	// <nil>
}
