package shellwords_test

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/shellwords"
)

func ExampleSplit() {
	words, err := shellwords.Split(`change-tester "project $project" ${iid} '$5'`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range words {
		fmt.Println(w)
	}
	_, err = shellwords.Split("terraform-users; rm -rf /")
	fmt.Println(err)
	// Output:
	// [{change-tester }]
	// [{project  } { project}]
	// [{ iid}]
	// [{$5 }]
	// at byte 16: ; ends a command
}
