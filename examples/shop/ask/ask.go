package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// Options are the flags that every integration of the shop has.
type Options struct {
	Now       string // GraphQL address of the current state
	Wanted    string // GraphQL address of the wanted state
	Warehouse string // "" for all warehouses
}

// ParseFlags reads the flags of an integration. It ends the program if they are
// wrong.
func ParseFlags() Options {
	var o Options
	flag.StringVar(&o.Now, "now", "", "GraphQL address of what is there now")
	flag.StringVar(&o.Wanted, "wanted", "", "GraphQL address of what is wanted")
	flag.StringVar(&o.Warehouse, "warehouse", "", "look at this warehouse only")
	flag.Parse()
	return o
}

// PrintChanges sends the same query to both servers and prints what would change.
// The function state turns an answer into descriptions of things by their names. If
// something goes wrong, PrintChanges ends the program with exit code 1.
func PrintChanges[T any](o Options, query string, state func(T) map[string]string) {
	if err := writeChanges(os.Stdout, o, query, state); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeChanges writes one line per thing that would be added, changed or removed.
func writeChanges[T any](w io.Writer, o Options, query string, state func(T) map[string]string) error {
	now, err := runQuery[T](o.Now, query)
	if err != nil {
		return fmt.Errorf("asking what is there now: %w", err)
	}
	wanted, err := runQuery[T](o.Wanted, query)
	if err != nil {
		return fmt.Errorf("asking what is wanted: %w", err)
	}
	var lines []string
	current, desired := state(now), state(wanted)
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		if is, ok := current[name]; !ok {
			lines = append(lines, fmt.Sprintf("would add %s: %s", name, desired[name]))
		} else if is != desired[name] {
			lines = append(lines, fmt.Sprintf("would change %s: %s, now %s", name, desired[name], is))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(current)) {
		if _, ok := desired[name]; !ok {
			lines = append(lines, "would remove "+name)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing would change")
	}
	_, err = fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// runQuery sends a query to a GraphQL server and decodes the answer.
func runQuery[T any](url, query string) (data T, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return data, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return data, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return data, err
	}
	defer res.Body.Close()
	var out struct {
		Data   T
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return data, fmt.Errorf("status %s: %w", res.Status, err)
	}
	if len(out.Errors) > 0 {
		return data, errors.New(out.Errors[0].Message)
	}
	return out.Data, nil
}
