package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// serve starts the service of the example, with one warehouse that nobody marked.
func serve() *httptest.Server {
	there := map[string]warehouse{"/north": {Name: "north", Shelves: 4, Version: "1"}}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is, ok := there[r.URL.Path]
		version := "none"
		if ok {
			version = is.Version
		}
		var answer any = is
		switch {
		case r.URL.Path == "/":
			list := []warehouse{}
			for _, name := range []string{"/harbor", "/hill", "/north"} {
				if is, ok := there[name]; ok {
					list = append(list, is)
				}
			}
			answer = list
		case r.Method == http.MethodGet && !ok:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
		case r.Header.Get("If-Match") != version:
			w.WriteHeader(http.StatusPreconditionFailed)
		case r.Method == http.MethodDelete:
			delete(there, r.URL.Path)
		default:
			var to warehouse
			if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			n, _ := strconv.Atoi(is.Version) // "" is 0
			to.Version = strconv.Itoa(n + 1)
			there[r.URL.Path] = to
		}
		_ = json.NewEncoder(w).Encode(answer) // the client sees a cut answer
	}))
}

// A dry run says what the run does. After the run there is nothing to do.
func Example() {
	service := serve()
	defer service.Close()
	shelves := New(service.URL)
	show := func(f integration.Remark) {
		if f.Effect != nil {
			fmt.Println(" ", f.Effect.Kind, f.Effect.Subject)
		} else {
			fmt.Println(" ", f.Severity, f.Code, f.Message)
		}
	}
	for _, data := range []string{
		`[{"path":"/harbor.yml","name":"harbor","shelves":260},{"path":"/hill.yml","name":"hill","shelves":-1},{"path":"/north.yml","name":"north","shelves":5}]`,
		`[{"path":"/harbor.yml","name":"harbor","shelves":261}]`,
		`[{"path":"/hill.yml","name":"hill","shelves":2}]`,
	} {
		env := integration.Environment{
			Integration: "warehouse-shelves", Log: io.Discard, Now: time.Now, Report: show,
			Query: func(context.Context, string, map[string]any) ([]byte, error) {
				return []byte(`{"warehouses":` + data + `}`), nil
			},
		}
		fmt.Println("dry run:")
		if err := shelves.DryRun(context.Background(), env); err != nil {
			fmt.Println(err)
		}
		env.Report = func(integration.Remark) {}
		if err := shelves.Run(context.Background(), env, integration.Actors{Did: func(d integration.Deed) {
			fmt.Println("done:", strings.TrimSpace(d.Action+" "+d.Key))
		}}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// dry run:
	//   error VAL_RANGE hill: shelves must not be negative
	//   error NOT_ADOPTED north: it belongs to nobody: adopt it first
	//   create harbor
	// done: create harbor
	// dry run:
	//   change harbor
	// done: update harbor
	// dry run:
	//   delete harbor
	//   create hill
	// done: create hill
	// done: delete harbor
}
