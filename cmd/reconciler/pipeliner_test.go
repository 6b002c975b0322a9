package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/programs/reconciler"
)

// pipeliner is the program reconciler with saas-pipelines. The file that HEADS names has the branches
// of repositories: {"https://…": {"main": "0123…"}}.
func pipeliner() {
	os.Exit(reconciler.Main(pipelines.New(pipelines.Services{Repositories: headsFile(os.Getenv("HEADS"))})))
}

// A headsFile is a file with branches.
type headsFile string

// Heads implements [services.Repositories].
func (f headsFile) Heads(_ context.Context, of services.Repository, branches []string) (map[string]string, error) {
	raw, err := os.ReadFile(string(f))
	if err != nil {
		return nil, err
	}
	var all map[string]map[string]string
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, b := range branches {
		if head, ok := all[of.URL][b]; ok {
			out[b] = head
		}
	}
	return out, nil
}

// Log implements [services.Repositories].
func (headsFile) Log(context.Context, services.Repository, string, int) ([]string, error) {
	return nil, services.ErrNotThere
}

// Files implements [services.Repositories].
func (headsFile) Files(context.Context, services.Repository, string, string, bool) (map[string][]byte, error) {
	return nil, services.ErrNotThere
}
