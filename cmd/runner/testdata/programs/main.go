// Command programs is what the plans of the scripts start. It is a program of its own
// because a copy of the test binary takes ten times as long to start. The name that it
// is started by says what it is.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	programs := map[string]func(){
		"task": task, "qontract-reconcile": qontractReconcile, "go-qontract-reconcile": goQontractReconcile, "vault-manager": vaultManager,
	}
	name := filepath.Base(os.Args[0])
	program, ok := programs[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no program is called %q\n", name)
		os.Exit(9)
	}
	program()
}
