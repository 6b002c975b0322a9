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
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
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
		fmt.Println("value", v, url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v)), strconv.Quote(v), html.EscapeString(v))
		for n := range 4 {
			inside := strings.Repeat("u", n) + ":" + v + "@host"
			fmt.Println("basic", base64.StdEncoding.EncodeToString([]byte(inside)), base64.RawURLEncoding.EncodeToString([]byte(inside)))
		}
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

// canary VARIABLE... wants that neither the last output nor any file here holds
// the value of a variable, however it is written. It decodes what it finds and
// knows nothing of the forms that are masked. Negated, it wants that one is found.
func canary(ts *testscript.TestScript, negated bool, args []string) {
	found := false
	defer func() {
		if negated && !found {
			ts.Fatalf("nothing was found")
		}
	}()
	var secrets []string
	for _, name := range args {
		v := ts.Getenv(name)
		if len(v) < 8 {
			ts.Fatalf("%s is no secret: %q", name, v)
		}
		secrets = append(secrets, v)
	}
	look := func(where, text string) {
		read := readings(text)
		for _, s := range secrets {
			how := holds(read, s)
			found = found || how != ""
			if how != "" && !negated {
				ts.Fatalf("%s holds %q, %s", where, s, how)
			}
		}
	}
	for _, name := range []string{"stdout", "stderr"} {
		look(name, ts.ReadFile(name))
	}
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		look(path, string(raw))
		look("the name of", path)
		return err
	}))
}

var (
	digits64 = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)
	digits16 = regexp.MustCompile(`[A-Fa-f0-9]{8,}`)
	percents = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// readings are a text as it is and decoded in every way, by the way.
func readings(text string) map[string]string {
	out := map[string]string{
		"plain": text, "as HTML": html.UnescapeString(text),
		"escaped":  strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">", `\u00e4`, "ä", `\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(text),
		"in lines": strings.NewReplacer("\n", "", "\r", "", `\n`, "").Replace(text),
		"in an address": percents.ReplaceAllStringFunc(text, func(p string) string {
			c, _ := strconv.ParseUint(p[1:], 16, 8)
			return string([]byte{byte(c)})
		}),
	}
	var decoded strings.Builder
	for _, text := range []string{text, out["in lines"], out["in an address"]} {
		for _, run := range digits16.FindAllString(text, -1) {
			for skip := range 2 {
				raw, _ := hex.DecodeString(run[skip : skip+(len(run)-skip)/2*2])
				decoded.Write(append(raw, '\n'))
			}
		}
		for _, run := range digits64.FindAllString(text, -1) {
			run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
			for skip := range 4 {
				run := run[skip:]
				if len(run)%4 == 1 {
					run = run[:len(run)-1]
				}
				raw, _ := base64.RawStdEncoding.DecodeString(run)
				decoded.Write(append(raw, '\n'))
			}
		}
	}
	out["in base64 or hex"] = decoded.String()
	return out
}

// holds tells how a text holds a secret, "" when it does not.
func holds(readings map[string]string, secret string) string {
	for how, text := range readings {
		if strings.Contains(text, secret) || how == "in an address" && strings.Contains(strings.ReplaceAll(text, "+", " "), secret) {
			return how
		}
	}
	return ""
}
