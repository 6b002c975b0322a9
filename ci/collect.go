package ci

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
	"github.com/app-sre/prcheck/internal/safepath"
)

// Limits of a collection.
const (
	maxPages    = 100
	archiveTime = 10 * time.Minute // for one archive
	collectTime = 45 * time.Minute
	maxUnpacked = 1 << 30 // bytes of all jobs together
	maxFiles    = 20_000  // files of all jobs together
)

// A Collected is a job of a child pipeline with its artifacts.
type Collected struct {
	Job    string
	Status string
	Folder string   // path below the folder of the collection; "" if the job has no artifacts
	Files  []string // paths below the folder of the collection, sorted
}

// A triggerJob is a job that starts a child pipeline.
type triggerJob struct {
	id                int
	name, status      string
	project, pipeline int // of the child pipeline; 0 if the job did not start one
}

// A pipelineJob is a job of a child pipeline.
type pipelineJob struct {
	project, id  int
	name, status string
	artifacts    bool
}

// artifactAPI has the calls of GitLab for artifacts.
type artifactAPI interface {
	triggerJobs(ctx context.Context, project, pipeline, page int) ([]triggerJob, bool, error)
	jobs(ctx context.Context, project, pipeline, page int) ([]pipelineJob, bool, error)
	artifacts(ctx context.Context, from pipelineJob, w io.Writer) error
}

// Collect unpacks the artifacts of all jobs of all child pipelines into dir. Each job gets a
// folder of its own there. If a job ran several times, the newest run counts. After an error
// the folders of the jobs that were completely unpacked stay.
func (c *Client) Collect(ctx context.Context, project, pipeline int, dir string) ([]Collected, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, collectTime, fmt.Errorf("it took longer than %s", collectTime))
	defer cancel()
	jobs, err := c.childJobs(ctx, project, pipeline)
	if err != nil {
		return nil, fmt.Errorf("collecting from pipeline %d: %w", pipeline, addRemedy(err, "read_api"))
	}
	root, err := safepath.MakeFolder(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	u := &unpacker{root: root, bytes: maxUnpacked, files: maxFiles}
	var out []Collected
	for _, j := range jobs {
		collected := Collected{Job: j.name, Status: j.status}
		if j.artifacts {
			collected.Folder = "job-" + itoa(j.id)
			if collected.Files, err = c.collectJob(ctx, j, u, collected.Folder); err != nil {
				return out, fmt.Errorf("collecting from job %d %q: %w", j.id, j.name, addRemedy(err, "read_api"))
			}
		}
		out = append(out, collected)
	}
	return out, nil
}

// childJobs returns the newest run of each job of all child pipelines. A trigger job that
// started no pipeline is in the list itself.
func (c *Client) childJobs(ctx context.Context, project, pipeline int) ([]pipelineJob, error) {
	children, err := readPages(ctx, maxPages, func(ctx context.Context, page int) ([]triggerJob, bool, error) {
		return c.api.triggerJobs(ctx, project, pipeline, page)
	})
	if err != nil {
		return nil, err
	}
	var out []pipelineJob
	for _, child := range newestByName(children, func(c triggerJob) (string, int) { return c.name, c.id }) {
		if child.pipeline == 0 {
			out = append(out, pipelineJob{name: child.name, status: child.status})
			continue
		}
		jobs, err := readPages(ctx, maxPages, func(ctx context.Context, page int) ([]pipelineJob, bool, error) {
			return c.api.jobs(ctx, child.project, child.pipeline, page)
		})
		if err != nil {
			return nil, fmt.Errorf("pipeline %d of %q: %w", child.pipeline, child.name, err)
		}
		out = append(out, newestByName(jobs, func(j pipelineJob) (string, int) { return j.name, j.id })...)
	}
	return out, nil
}

// newestByName returns the element with the largest id for each name, sorted by id.
func newestByName[T any](all []T, key func(T) (name string, id int)) []T {
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

// collectJob downloads and unpacks the artifacts of one job.
func (c *Client) collectJob(ctx context.Context, from pipelineJob, u *unpacker, folder string) ([]string, error) {
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

// addRemedy adds to a RefusedError which token the request needs.
func addRemedy(err error, scope string) error {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	const withRemedy = "%w (this takes a token with scope %s in " + TokenVariable +
		", of a member of the project who may do it)"
	switch refused.Status {
	case 401, 403, 404:
		return fmt.Errorf(withRemedy, err, scope)
	}
	return err
}

func itoa(n int) string { return strconv.Itoa(n) }

// An unpacker unpacks archives below one folder, within limits for all archives together.
type unpacker struct {
	root  *os.Root
	bytes int64 // number of bytes that may still be unpacked
	files int   // number of files that may still be unpacked
}

// unpack unpacks an archive into a new folder and returns the names of its files. After an
// error it removes the folder.
func (u *unpacker) unpack(archive *os.File, folder string) (names []string, err error) {
	info, err := archive.Stat()
	if err != nil {
		return nil, err
	}
	r, err := zip.NewReader(archive, info.Size())
	if err != nil {
		return nil, fmt.Errorf("the archive: %w", err)
	}
	if err := u.root.Mkdir(folder, 0o750); err != nil {
		return nil, fmt.Errorf("%w: collect into an empty folder", err)
	}
	defer func() {
		if err != nil {
			_ = u.root.RemoveAll(folder)
		}
	}()
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") {
			continue // a folder is made when it gets a file
		}
		name, err := u.unpackFile(f, folder)
		if err != nil {
			return nil, fmt.Errorf("the archive holds %q: %w", f.Name, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// unpackFile unpacks one file of an archive and returns its path.
func (u *unpacker) unpackFile(f *zip.File, folder string) (string, error) {
	switch {
	case !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.ContainsAny(f.Name, "\\\x00"):
		return "", errors.New("a name that leads elsewhere")
	case !f.Mode().IsRegular():
		return "", errors.New("which is no plain file")
	case u.files == 0:
		return "", fmt.Errorf("after %d files, more than are taken", maxFiles)
	}
	u.files--
	name := path.Join(folder, f.Name)
	if err := u.root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return "", err
	}
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(out, io.LimitReader(in, u.bytes+1))
	err = errors.Join(err, out.Close())
	if u.bytes -= n; err == nil && u.bytes < 0 {
		err = fmt.Errorf("with which it unpacks to more than %d bytes", maxUnpacked)
	}
	return name, err
}
