package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// qontractReconcile is a stand-in for qontract-reconcile that asks the server
// what the real client asks, in the same order, and ends as it ends. It prints
// what it was given and what it does.
func qontractReconcile() { os.Exit(new(reconciler).main(os.Args[1:])) }

// Its exit codes, and those of click for wrong usage.
const (
	exitError         = 1
	exitUsage         = 2
	exitNotFound      = 4
	exitForbidden     = 5
	clientAttempts    = 5
	clientPause       = 5 * time.Millisecond // times the attempt; the real one takes seconds
	questionOfClients = "{ integrations: integrations_v1 { name description schemas } }"
)

var (
	errNotFound  = errors.New("integration not found")
	errForbidden = errors.New("forbidden schemas")
)

// integrationsOfFake are those that the stand-in knows: what each asks, and whether it can exit early.
var integrationsOfFake = map[string]struct {
	query string
	early bool
}{
	"change-owners":          {query: "{ users_v1 { name roles { name } } }"},
	"github":                 {query: "{ users_v1 { name roles { name } } }", early: true},
	"github-users":           {query: "{ users_v1 { name } }"},
	"integrations-validator": {query: "{ users_v1 { name } }"},
	"jenkins-job-builder":    {query: "{ users_v1 { name } }"},
	"ldap-groups":            {query: "{ users_v1 { name email } }", early: true},
	"terraform-resources":    {query: "{ awsaccounts_v1 { name uid } }", early: true},
	"terraform-users":        {query: "{ awsaccounts_v1 { name uid } roles_v1 { accounts { name } } }", early: true},
}

type reconciler struct {
	dryRun, validate, pinned, affectedOnly bool
	config, compare, name, token           string
	server                                 *url.URL
}

func (r *reconciler) main(args []string) int {
	fmt.Printf("argv: %q\n", args)
	printEnvironment()
	rest, err := r.options(args)
	if err != nil || len(rest) == 0 {
		fmt.Println("Usage: qontract-reconcile [OPTIONS] COMMAND [ARGS]...", err)
		return exitUsage
	}
	known, ok := integrationsOfFake[rest[0]]
	if !ok {
		fmt.Printf("Error: No such command %q.\n", rest[0])
		return exitUsage
	}
	r.name = rest[0]
	err = r.read(r.config)
	if err == nil {
		_, err = r.client(r.pinned, "", false) // the first, without the integration's name
	}
	if err == nil {
		err = r.run(known.query, known.early)
	}
	switch {
	case errors.Is(err, errNotFound):
		fmt.Fprintln(os.Stderr, err)
		return exitNotFound
	case errors.Is(err, errForbidden):
		fmt.Fprintln(os.Stderr, err)
		return exitForbidden
	case err != nil:
		fmt.Fprintln(os.Stderr, "Traceback:", err)
		return exitError
	}
	return 0
}

// options reads those of the group, as click does: up to the first word that
// is none, or --.
func (r *reconciler) options(args []string) (rest []string, err error) {
	r.validate, r.pinned = true, true
	r.compare = os.Getenv("EARLY_EXIT_COMPARE_SHA")
	r.affectedOnly = os.Getenv("CHECK_ONLY_AFFECTED_SHARDS") == "true"
	flags := map[string]func(){
		"--dry-run": func() { r.dryRun = true }, "--no-dry-run": func() { r.dryRun = false },
		"--validate-schemas": func() { r.validate = true }, "--no-validate-schemas": func() { r.validate = false },
		"--gql-sha-url": func() { r.pinned = true }, "--no-gql-sha-url": func() { r.pinned = false },
		"--gql-url-print": func() {}, "--no-gql-url-print": func() {},
		"--check-only-affected-shards": func() { r.affectedOnly = true },
	}
	values := map[string]*string{"--config": &r.config, "--early-exit-compare-sha": &r.compare, "--log-level": new(string)}
	for i := 0; i < len(args); i++ {
		set, isFlag := flags[args[i]]
		value, hasValue := values[args[i]]
		switch {
		case args[i] == "--":
			return args[i+1:], nil
		case isFlag:
			set()
		case hasValue && i+1 < len(args):
			i++
			*value = args[i]
		case strings.HasPrefix(args[i], "-"):
			return nil, fmt.Errorf("no such option: %s", args[i])
		default:
			return args[i:], nil
		}
	}
	return nil, nil
}

// read reads the little of TOML that the config uses.
func (r *reconciler) read(name string) error {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		key, value, isPair := strings.Cut(line, " = ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case isPair:
			value = strings.Trim(value, `"`)
			if key == "token" {
				fmt.Printf("config %s.%s has %d bytes\n", section, key, len(value))
			} else {
				fmt.Printf("config %s.%s: %s\n", section, key, value)
			}
			if key == "secret_id" {
				fmt.Printf("which has %d bytes\n", len(value))
			}
			switch section + "." + key {
			case "graphql.server":
				r.server, err = url.Parse(value)
			case "graphql.token":
				r.token = value
			}
		default:
			return fmt.Errorf("config: %q is no TOML", line)
		}
	}
	if r.server == nil && err == nil {
		err = errors.New("KeyError: 'graphql'")
	}
	return err
}

// at is the server with another path.
func (r *reconciler) at(path string) string {
	u := *r.server
	u.Path = path
	return u.String()
}

// get asks for a text, again when the answer is an HTTP error.
func (r *reconciler) get(path string) (body string, err error) {
	for i := range clientAttempts {
		time.Sleep(time.Duration(i) * clientPause)
		var res *http.Response
		res, err = send(http.MethodGet, r.at(path), r.token, nil)
		if err != nil {
			return "", err // a connection error is not retried here
		}
		raw, _ := io.ReadAll(res.Body)
		res.Body.Close()
		fmt.Printf("GET %s: %d\n", path, res.StatusCode)
		if res.StatusCode == http.StatusOK {
			return string(raw), nil
		}
		err = fmt.Errorf("HTTPError: %s", res.Status)
	}
	return "", err
}

func printEnvironment() {
	all := os.Environ()
	slices.Sort(all)
	for _, v := range all {
		if !strings.HasPrefix(v, "PATH=") && !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "GORACE=") {
			fmt.Println("env:", v)
		}
	}
}

// vaultManager is a stand-in for vault-manager: it asks its one query of the
// address it is given.
func vaultManager() {
	fmt.Printf("argv: %q\n", os.Args[1:])
	printEnvironment()
	query, err := os.ReadFile(os.Getenv("GRAPHQL_QUERY_FILE"))
	must(err)
	fmt.Println(string(ask(os.Getenv("GRAPHQL_SERVER"), "", string(query))))
	os.Exit(0)
}

// goQontractReconcile is a stand-in for go-qontract-reconcile, which checks its
// schemas after each answer and does not know how to go without.
func goQontractReconcile() {
	fmt.Printf("argv: %q\n", os.Args[1:])
	printEnvironment()
	server := os.Getenv("GRAPHQL_SERVER")
	fmt.Println(string(ask(server, "", "{ users_v1 { name email } }")))
	fmt.Println(string(ask(server, "", questionOfClients)))
	os.Exit(0)
}

// send sends a request with a token, if there is one.
func send(method, address, token string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequest(method, address, body) //nolint:noctx // a small program
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	return http.DefaultClient.Do(req)
}

// ask posts a query and returns the answer as it is.
func ask(address, token, query string) []byte {
	body, err := json.Marshal(map[string]string{"query": query})
	must(err)
	res, err := send(http.MethodPost, address, token, bytes.NewReader(body))
	must(err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	must(err)
	return raw
}
