package state_test

import (
	"context"
	"fmt"
	"os"

	"github.com/app-sre/prcheck/state"
)

func ExampleDir() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	d, err := state.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := d.Write(context.Background(), "greetings/hello.txt", []byte("hello again")); err != nil {
		fmt.Println(err)
		return
	}
	raw, err := d.Read(context.Background(), "greetings/hello.txt")
	fmt.Println(string(raw), err)
	// Output: hello again <nil>
}
