package durations_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/durations"
)

func ExampleStore_Estimate() {
	folder, err := os.MkdirTemp("", "durations")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	dir, err := state.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := durations.NewStore(dir)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	err = store.Add(context.Background(), []durations.Run{
		{Integration: "terraform-users", Shard: "app-sre", Seconds: 40, Passed: true, At: at},
		{Integration: "terraform-users", Shard: "app-sre", Seconds: 44, Passed: true, At: at},
		{Integration: "terraform-users", Shard: "app-sre", Seconds: 90, Passed: true, At: at},
	})
	fmt.Println(store.Estimate(context.Background(), "terraform-users", "app-sre"), err)
	// Output: {44 90 3 false} <nil>
}
