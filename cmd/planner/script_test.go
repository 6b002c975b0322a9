package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"planner": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}

var _ = cli.ExitOK
