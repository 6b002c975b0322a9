package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// spill is the worst that a task can do with secrets: it prints all that it has,
// and all that the runner has, in every way, and asks for it: spill URL CODE.
func spill(args []string) {
	own := os.Environ()
	parent, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid())) // there is none everywhere
	theirs := strings.Split(string(parent), "\x00")
	slices.Sort(own)
	for _, entry := range own {
		fmt.Println("own", entry)
	}
	for _, entry := range slices.Concat(own, theirs) {
		_, v, _ := strings.Cut(entry, "=")
		if !strings.Contains(v, "canary") {
			continue
		}
		fmt.Println("value", v, url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v)),
			strconv.Quote(v), html.EscapeString(v))
		for n := range 4 {
			inside := strings.Repeat("u", n) + ":" + v + "@host"
			fmt.Println("basic", base64.StdEncoding.EncodeToString([]byte(inside)),
				base64.RawURLEncoding.EncodeToString([]byte(inside)))
		}
		all := spellings(v)
		for _, form := range all {
			fmt.Println("form", form)
		}
		fmt.Println("forms:", len(all))
		lines := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("long ", 11) + v + strings.Repeat(" long", 20)))
		for len(lines) > 76 {
			fmt.Println(lines[:76])
			lines = lines[76:]
		}
		fmt.Println(lines)
		for i := range len(v) { // in pieces, one here and one there
			_, _ = []*os.File{os.Stdout, os.Stderr}[i%2].WriteString(v[i : i+1])
		}
		fmt.Println()
		question, err := json.Marshal(map[string]string{"query": "query($x: String) { products(name: $x) { name } } # " + v})
		must(err)
		res, err := http.Post(args[0], "application/json", bytes.NewReader(question)) //nolint:noctx // a small program
		must(err)
		_, err = io.Copy(os.Stdout, res.Body)
		must(err)
		must(res.Body.Close())
	}
	code, err := strconv.Atoi(args[1])
	must(err)
	os.Exit(code)
}
