//go:build !unix

package moved

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
)

// replace says what to call: a process cannot become another program here.
func replace(_ string, args, _ []string) error {
	return cli.Usage(fmt.Errorf("call %s", strings.Join(args, " ")))
}
