package services

import (
	"context"
	"errors"
	"io"
)

// ErrNotThere says that a service answered, and that what was asked for does not exist. Every
// other error means that nobody knows.
var ErrNotThere = errors.New("it is not there")

// A Repository is a git repository, with what its host asks for.
type Repository struct {
	URL      string // https://host/path, without credentials
	User     string // "" with a token means that the host takes any user
	Password string // a token or a password; "" sends none
}

// Repositories read git repositories. Several goroutines may use them at once.
type Repositories interface {
	// Heads returns the commits that branches point to, by name of the branch, with one request.
	// A branch that does not exist is left out. The error is [ErrNotThere] if there is no such
	// repository.
	Heads(ctx context.Context, of Repository, branches []string) (map[string]string, error)
	// Log returns a commit and those before it on the way of first parents, newest first, at
	// most limit, as full shas.
	Log(ctx context.Context, of Repository, commit string, limit int) ([]string, error)
	// Files returns the files at a path of a commit, by their path below it. If the path is a
	// file, its key is "". Folders below are read only if deep. The error is [ErrNotThere] if
	// the commit has no such path. Links are never followed: they are left out.
	Files(ctx context.Context, of Repository, commit, path string, deep bool) (map[string][]byte, error)
}

// A Login is what a registry asks for; the zero value is none.
type Login struct{ User, Password string }

// An Image is the name of a container image, such as quay.io/org/name:tag, with what its registry asks for.
type Image struct {
	Name  string
	Login Login
	// TokensFrom are the servers, as HOST or HOST:PORT, that may give tokens for the image and get the login for
	// it, besides the registry itself.
	TokensFrom []string
}

// Registry reads registries of container images. Several goroutines may use it at once.
type Registry interface {
	// Digest returns the digest ("sha256:…") of an image. The error is [ErrNotThere] if the registry does not
	// have it.
	Digest(ctx context.Context, of Image) (string, error)
}

// A Build is one build of a job.
type Build struct {
	Number int    `json:"number"`
	Result string `json:"result"` // SUCCESS, FAILURE, …; "" while it runs
	Commit string `json:"commit"` // full sha; "" if the build does not tell
}

// Builds read the builds of a build server.
type Builds interface {
	// Jobs returns the builds of jobs, newest first, by the name of the job, with one request
	// for one server. A job that does not exist is left out.
	Jobs(ctx context.Context, server string, login Login, jobs []string) (map[string][]Build, error)
}

// Measurements answer queries with one number, as Prometheus does.
type Measurements interface {
	// Measure returns the value of an expression. Anything but exactly one finite number is an
	// error. A token is sent as bearer token if the login has no user.
	Measure(ctx context.Context, server string, login Login, expression string) (float64, error)
}

// Close closes repositories that keep files.
func Close(r Repositories) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
