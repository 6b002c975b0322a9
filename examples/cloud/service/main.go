// Command service serves the simulated cloud of this example, until it is interrupted. It prints
// each request that it answers. All resources are gone when it ends.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8089", "address to listen at")
	slow := flag.Duration("slow", 2*time.Second, "how long the operations of the service take")
	flag.Parse()
	if err := serve(*listen, *slow); err != nil && !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

// serve answers requests at an address.
func serve(listen string, slow time.Duration) error {
	s, err := armtest.Example()
	if err != nil {
		return err
	}
	s.Token = "token-of-the-example" // the settings of the example name the variable that has it
	s.Slow(slow, time.Second)
	s.Intervene(nil, func(r armtest.Request) { fmt.Println(r) })
	fmt.Println("serving at http://" + listen)
	server := &http.Server{Addr: listen, Handler: s, ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}
