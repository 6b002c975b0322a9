package ci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// How much is collected at most.
const (
	maxPages    = 100
	archiveTime = 10 * time.Minute
	collectTime = 45 * time.Minute
	maxUnpacked = 1 << 30 // bytes, of all jobs
	maxFiles    = 20_000  // of all jobs
)

// A Collected is one job of a child pipeline and what it left.
type Collected struct {
	Job    string
	Status string
	Folder string   // below the folder to collect in; "" when it left nothing
	Files  []string // below the folder to collect in, sorted
}

// child is a pipeline that a job started; its numbers are 0 when it did not.
type child struct {
	id                int    // of the job
	name, status      string // of the job
	project, pipeline int
}

// job is a job of a pipeline.
type job struct {
	project, id  int
	name, status string
	artifacts    bool
}

// artifactAPI is what is used of GitLab for artifacts.
type artifactAPI interface {
	children(ctx context.Context, project, pipeline, page int) ([]child, bool, error)
	jobs(ctx context.Context, project, pipeline, page int) ([]job, bool, error)
	artifacts(ctx context.Context, from job, w io.Writer) error
}

// Collect unpacks the artifacts of the jobs of all child pipelines into a folder,
// those of each job into a folder of its own. Of several attempts it takes the
// newest. Whatever goes wrong is an error; what is complete by then stays.
func (c *Client) Collect(ctx context.Context, project, pipeline int, dir string) ([]Collected, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, collectTime, fmt.Errorf("it took longer than %s", collectTime))
	defer cancel()
	jobs, err := c.childJobs(ctx, project, pipeline)
	if err != nil {
		return nil, fmt.Errorf("collecting from pipeline %d: %w", pipeline, remedy(err, "read_api"))
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	u := &unpacking{root: root, bytes: maxUnpacked, files: maxFiles}
	var out []Collected
	for _, j := range jobs {
		one := Collected{Job: j.name, Status: j.status}
		if j.artifacts {
			one.Folder = "job-" + itoa(j.id)
			if one.Files, err = c.collect(ctx, j, u, one.Folder); err != nil {
				return out, fmt.Errorf("collecting from job %d %q: %w", j.id, j.name, remedy(err, "read_api"))
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func (c *Client) childJobs(ctx context.Context, project, pipeline int) ([]job, error) {
	children, err := pages(ctx, maxPages, func(ctx context.Context, page int) ([]child, bool, error) {
		return c.api.children(ctx, project, pipeline, page)
	})
	if err != nil {
		return nil, err
	}
	var out []job
	for _, child := range newest(children, func(c child) (string, int) { return c.name, c.id }) {
		if child.pipeline == 0 {
			out = append(out, job{name: child.name, status: child.status})
			continue
		}
		jobs, err := pages(ctx, maxPages, func(ctx context.Context, page int) ([]job, bool, error) {
			return c.api.jobs(ctx, child.project, child.pipeline, page)
		})
		if err != nil {
			return nil, fmt.Errorf("pipeline %d of %q: %w", child.pipeline, child.name, err)
		}
		out = append(out, newest(jobs, func(j job) (string, int) { return j.name, j.id })...)
	}
	return out, nil
}

// newest returns the newest of each name, by id.
func newest[T any](all []T, key func(T) (name string, id int)) []T {
	latest := map[string]T{}
	for _, x := range all {
		name, id := key(x)
		if old, ok := latest[name]; ok {
			if _, before := key(old); before > id {
				continue
			}
		}
		latest[name] = x
	}
	return slices.SortedFunc(maps.Values(latest), func(a, b T) int {
		_, first := key(a)
		_, second := key(b)
		return cmp.Compare(first, second)
	})
}

// collect downloads and unpacks what one job left.
func (c *Client) collect(ctx context.Context, from job, u *unpacking, folder string) ([]string, error) {
	archive, err := os.CreateTemp("", "artifacts-*.zip")
	if err != nil {
		return nil, err
	}
	defer os.Remove(archive.Name())
	defer archive.Close()
	err = repeat(ctx, archiveTime, func(ctx context.Context) error {
		if _, err := archive.Seek(0, io.SeekStart); err != nil {
			return retry.Permanent(err)
		}
		if err := archive.Truncate(0); err != nil {
			return retry.Permanent(err)
		}
		return c.api.artifacts(ctx, from, archive)
	})
	if err != nil {
		return nil, err
	}
	return u.unpack(archive, folder)
}

// remedy adds what a refusal takes to be mended.
func remedy(err error, scope string) error {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	const needs = "%w (this takes a token with scope %s in " + TokenVariable + ", of a member of the project who may do it)"
	switch refused.Status {
	case 401, 403, 404:
		return fmt.Errorf(needs, err, scope)
	}
	return err
}

func itoa(n int) string { return strconv.Itoa(n) }
