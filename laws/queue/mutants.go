package main

import _ "embed"

//go:embed mutants.json
var mutants []byte
