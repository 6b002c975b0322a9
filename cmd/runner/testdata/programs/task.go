package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// areOne tells whether base and head, given by their sha256, are one bundle. Such a base
// has a name of its own, see bundle.Apart.
func areOne(base, head string) bool {
	return base == head || base == fmt.Sprintf("%x", sha256.Sum256([]byte("base, apart from head: "+head)))
}

// task is the program that the plans of the scripts start: the first argument
// says what it does. An unknown word does nothing.
func task() {
	word, args := os.Args[1], os.Args[2:]
	for _, do := range []func(word string, args []string){speak, fail, linger, write} {
		do(word, args)
	}
	os.Exit(0)
}

// speak says something, or asks a server and prints the answer.
func speak(word string, args []string) {
	switch word {
	case "say":
		fmt.Println(strings.Join(args, " "))
	case "env":
		all := os.Environ()
		slices.Sort(all)
		fmt.Println(strings.Join(all, "\n"))
	case "show": // FILE
		info, err := os.Stat(args[0])
		must(err)
		raw, err := os.ReadFile(args[0])
		must(err)
		fmt.Printf("%s\n%s", info.Mode(), raw)
	case "print": // @FILE
		printFile(args[0])
	case "effects": // FILE WORD TEXT...
		effects(args[0], args[1], args[2:]...)
	case "ask": // URL QUERY
		post(args[0], args[1])
	case "askfile": // URL @FILE: a query a line, and exit code 1 when the last line is fail
		raw, err := os.ReadFile(strings.TrimPrefix(args[1], "@")) // the word itself names no file
		must(err)
		for line := range strings.Lines(string(raw)) {
			if strings.TrimSpace(line) == "fail" {
				os.Exit(1)
			}
			post(args[0], line)
		}
	case "spill": // URL CODE
		spill(args)
	case "leak": // VARIABLE
		v := os.Getenv(args[0])
		fmt.Println(v, base64.StdEncoding.EncodeToString([]byte(v)), url.QueryEscape(v))
		fmt.Println("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+v)))
		os.Exit(len(args) - 1)
	}
}

// fail fails, some words only when base and head differ.
func fail(word string, args []string) {
	switch word {
	case "fail": // CODE TEXT...
		fmt.Fprintln(os.Stderr, strings.Join(args[1:], " "))
		code, err := strconv.Atoi(args[0])
		must(err)
		os.Exit(code)
	case "differ": // BASE HEAD TEXT...: fails when the bundles differ
		if !areOne(args[0], args[1]) {
			fmt.Fprintln(os.Stderr, strings.Join(args[2:], " "))
			os.Exit(7)
		}
	case "words": // BASE HEAD WORD WORD: fails with the first word when the bundles differ, else with the second
		if !areOne(args[0], args[1]) {
			args[3] = args[2]
		}
		fmt.Fprintln(os.Stderr, args[3])
		os.Exit(7)
	case "slow": // BASE HEAD TEXT...: fails when the bundles differ, else takes its time
		if areOne(args[0], args[1]) {
			time.Sleep(10 * time.Minute)
		}
		fmt.Fprintln(os.Stderr, strings.Join(args[2:], " "))
		os.Exit(7)
	case "flaky": // FILE TEXT...: fails the first time
		if _, err := os.Stat(args[0]); err != nil {
			must(os.WriteFile(args[0], nil, 0o600))
			fmt.Fprintln(os.Stderr, strings.Join(args[1:], " "))
			os.Exit(7)
		}
	case "flakes": // FILE N BASE HEAD TEXT...: fails the first N times when the bundles differ
		n, err := strconv.Atoi(args[1])
		must(err)
		if ran, _ := os.ReadFile(args[0]); !areOne(args[2], args[3]) && len(ran) < n {
			must(os.WriteFile(args[0], append(ran, '.'), 0o600))
			fmt.Fprintln(os.Stderr, strings.Join(args[4:], " "))
			os.Exit(7)
		}
	case "sides": // BASE HEAD @FILE @FILE: prints the first file when the bundles are one, else the second
		if areOne(args[0], args[1]) {
			args[3] = args[2]
		}
		printFile(args[3])
	case "onlyhead": // BASE HEAD fail|hang: says what is gone, and fails or hangs on base
		fmt.Println("the lamp is gone")
		switch {
		case !areOne(args[0], args[1]):
		case args[2] == "fail":
			os.Exit(7)
		default:
			time.Sleep(10 * time.Minute)
		}
	}
}

// linger takes its time, or watches who runs beside it.
func linger(word string, args []string) {
	switch word {
	case "hang": // FILE
		must(os.WriteFile(args[0], nil, 0o600))
		time.Sleep(10 * time.Minute)
	case "child": // FILE: starts a child that hangs, too, and notes its id
		self, err := os.Executable()
		must(err)
		child := exec.Command(self) //nolint:noctx // it is to outlive its parent, if nobody ends it
		child.Args = []string{"task", "hang", args[0] + ".started"}
		must(child.Start())
		must(os.WriteFile(args[0]+".new", []byte(strconv.Itoa(child.Process.Pid)), 0o600))
		must(os.Rename(args[0]+".new", args[0]))
		must(child.Wait())
	case "sleep":
		time.Sleep(10 * time.Minute)
	case "alone": // LOCK NUMBER
		alone(args[0], args[1])
	case "own": // FILE: fails beside another one with this file
		f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			must(os.WriteFile(args[0]+".met", nil, 0o600))
			os.Exit(7)
		}
		must(f.Close())
		time.Sleep(50 * time.Millisecond)
		must(os.Remove(args[0]))
	case "family": // FILE
		family(args[0])
	}
}

// write writes files.
func write(word string, args []string) {
	switch word {
	case "note", "notes": // FILE TEXT: notes fails, too
		f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		must(err)
		_, err = fmt.Fprintln(f, args[1])
		must(err)
		must(f.Close())
		if word == "notes" {
			fmt.Fprintln(os.Stderr, "it is noted")
			os.Exit(7)
		}
	case "spread": // FILE...
		for _, name := range args {
			must(os.MkdirAll(filepath.Dir(name), 0o700))
			must(os.WriteFile(name, nil, 0o600))
		}
	case "doubt": // FILE KIND BASE HEAD
		doubtful(args[0], args[1], areOne(args[2], args[3]))
	}
}

// post asks a server and prints the answer.
func post(url, query string) {
	body, err := json.Marshal(map[string]string{"query": query})
	must(err)
	res, err := http.Post(url, "application/json", bytes.NewReader(body)) //nolint:noctx // a small program
	must(err)
	_, err = io.Copy(os.Stdout, res.Body)
	must(err)
	must(res.Body.Close())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
}
