package hooks

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/natives/generic/body"
)

// defaultTimeout is how long one hook may take for one resource, reads included.
const defaultTimeout = 10 * time.Second

// A Registry holds hooks. It is safe for concurrent use.
type Registry struct {
	hooks   []*Hook // sorted by name
	timeout time.Duration

	mu   sync.Mutex
	left map[*Hook]int // calls that were given up and still run
}

// New returns a registry of hooks, each of which may take so long; 0 is the default of ten
// seconds. A hook without name, two of one name, a broken pattern or a hook that does nothing
// is an error.
func New(timeout time.Duration, all ...*Hook) (*Registry, error) {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	r := &Registry{hooks: slices.Clone(all), timeout: timeout}
	slices.SortFunc(r.hooks, func(a, b *Hook) int { return strings.Compare(a.Name, b.Name) })
	for i, h := range r.hooks {
		_, err := path.Match(glob(h), "x")
		switch {
		case h.Name == "" || h.Types == "":
			return nil, errors.New("a hook needs a name and types")
		case i > 0 && r.hooks[i-1].Name == h.Name:
			return nil, fmt.Errorf("there are two hooks %q", h.Name)
		case err != nil:
			return nil, fmt.Errorf("hook %q: the pattern %q is broken", h.Name, h.Types)
		case len(h.Stages()) == 0:
			return nil, fmt.Errorf("hook %q does nothing", h.Name)
		}
	}
	return r, nil
}

// Default returns the registry of the hooks that are a part of the program.
func Default() *Registry {
	r, err := New(0, Shipped()...)
	if err != nil {
		panic(err) // the tests hold that it cannot be
	}
	return r
}

// Hooks returns all hooks, sorted by name.
func (r *Registry) Hooks() []*Hook { return slices.Clone(r.hooks) }

// CheckName reports whether the data of a resource of a type may name a hook. The error says
// why not, with the nearest name.
func (r *Registry) CheckName(typeName, name string) error {
	var names []string
	for _, h := range r.hooks {
		if h.Name == name && !h.isAbout(typeName) {
			return fmt.Errorf("the hook %q is about %s, not about %s", name, h.Types, withoutVersion(typeName))
		}
		if h.Name == name {
			return nil
		}
		if h.isAbout(typeName) {
			names = append(names, h.Name)
		}
	}
	message := fmt.Sprintf("there is no hook %q", phrase.Cut(name, maxName))
	if near := suggest.Words(phrase.Cut(name, maxName), names, 1+len(name)/4); len(near) > 0 {
		message += fmt.Sprintf("; do you mean %q?", near[0])
	} else if len(names) > 0 {
		message += "; there is " + strings.Join(names, ", ")
	}
	return errors.New(message)
}

// of returns the hooks that run for a resource.
func (r *Registry) of(x Subject) []*Hook {
	if r == nil {
		return nil
	}
	var out []*Hook
	for _, h := range r.hooks {
		if h.isAbout(x.Type) && (!h.ByName || slices.Contains(x.Named, h.Name)) {
			out = append(out, h)
		}
	}
	return out
}

func withoutVersion(typeName string) string {
	name, _, _ := strings.Cut(typeName, "@")
	return name
}

func glob(h *Hook) string { return strings.TrimSuffix(strings.ToLower(h.Types), "/**") }

func (h *Hook) isAbout(typeName string) bool {
	name := strings.ToLower(withoutVersion(typeName))
	if strings.HasSuffix(h.Types, "/**") {
		parts, most := strings.Split(name, "/"), strings.Count(glob(h), "/")+1
		if len(parts) <= most {
			return false
		}
		name = strings.Join(parts[:most], "/")
	}
	isMatch, err := path.Match(glob(h), name)
	return err == nil && isMatch
}

// maxName is the length in bytes up to which a name of the data is told.
const maxName = 100

// An Error says that a hook did not do its work. It is about one resource.
type Error struct {
	Hook  string
	Stage Stage
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("hook %s at %s: %v", e.Hook, e.Stage, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrTimeout is the cause of the error of a hook that overran its time.
var ErrTimeout = errors.New("it took too long and was given up")

// ErrLeft is the cause of the error of a hook that is not called, since an earlier call of it
// still runs after its time.
var ErrLeft = errors.New("it is not called while an earlier call of it goes on that took too long")

// panicked is the error of a hook that panicked.
type panicked struct{ place string }

func (e *panicked) Error() string { return "it panicked at " + e.place }

type result[T any] struct {
	value T
	err   error
}

// grace is how long a hook may take to end after its context ended.
const grace = 100 * time.Millisecond

// call runs one hook with a copy of the resource. The goroutine of a hook that overruns its
// time is left alone: it has copies only, and its result is dropped. Until it ends the hook is
// not called again, so at most as many goroutines are left as workers called it at once.
func call[T any](ctx context.Context, r *Registry, h *Hook, s Stage, x Subject, run func(context.Context,
	Subject) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	var out result[T]
	if r.isLeft(h) {
		return out.value, &Error{h.Name, s, ErrLeft}
	}
	x = x.clone()
	done := make(chan result[T], 1)
	go func() {
		var out result[T]
		defer func() {
			if recover() != nil {
				out = result[T]{err: &panicked{crash.Place()}}
			}
			done <- out
		}()
		out.value, out.err = run(ctx, x)
	}()
	select {
	case out = <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(grace):
			r.leave(h, func() { <-done })
		}
	}
	if ctx.Err() != nil {
		out.err = late(ctx)
	}
	if out.err != nil {
		var none T
		return none, &Error{h.Name, s, out.err}
	}
	return out.value, nil
}

// late returns the error of a call whose context ended, nil if it did not.
func late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return ctx.Err()
}

// leave notes that a call of a hook still runs, until wait returns.
func (r *Registry) leave(h *Hook, wait func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == nil {
		r.left = map[*Hook]int{}
	}
	r.left[h]++
	go func() {
		wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.left[h]--
	}()
}

// isLeft reports whether a call of a hook still runs that was given up.
func (r *Registry) isLeft(h *Hook) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left[h] > 0
}

// MutateDesired returns the desired body as the hooks of a resource change it.
func (r *Registry) MutateDesired(ctx context.Context, x Subject) (any, error) {
	err := r.change(ctx, &x, MutateDesired, &x.Desired, func(h *Hook) change { return h.MutateDesired })
	return x.Desired, err
}

// PostRead returns the live body as the hooks of a resource change it.
func (r *Registry) PostRead(ctx context.Context, x Subject) (any, error) {
	err := r.change(ctx, &x, PostRead, &x.Live, func(h *Hook) change { return h.PostRead })
	return x.Live, err
}

// Import returns the body that is written as data about a live resource. It begins with
// Desired, which is the live body without what data do not hold.
func (r *Registry) Import(ctx context.Context, x Subject) (any, error) {
	err := r.change(ctx, &x, Import, &x.Desired, func(h *Hook) change { return h.Import })
	return x.Desired, err
}

type change = func(context.Context, Subject) (any, error)

// change lets the hooks of a resource change one of its bodies, each what the last one left.
func (r *Registry) change(ctx context.Context, x *Subject, s Stage, body *any, of func(*Hook) change) error {
	for _, h := range r.of(*x) {
		run := of(h)
		if run == nil {
			continue
		}
		next, err := call(ctx, r, h, s, *x, run)
		if err != nil {
			*body = nil
			return err
		}
		*body = next
	}
	return nil
}

// PreReconcile returns whether a resource may be worked on. The first hook that does not let
// it proceed decides.
func (r *Registry) PreReconcile(ctx context.Context, x Subject) (Ready, error) {
	return r.ready(ctx, x, PreReconcile, func(h *Hook) func(context.Context, Subject) (Ready, error) {
		return h.PreReconcile
	})
}

// PreDelete returns whether a resource may be deleted, as [Registry.PreReconcile] does.
func (r *Registry) PreDelete(ctx context.Context, x Subject) (Ready, error) {
	return r.ready(ctx, x, PreDelete, func(h *Hook) func(context.Context, Subject) (Ready, error) { return h.PreDelete })
}

func (r *Registry) ready(ctx context.Context, x Subject, s Stage, of func(*Hook) func(context.Context,
	Subject) (Ready, error)) (Ready, error) {
	var all Ready
	for _, h := range r.of(x) {
		run := of(h)
		if run == nil {
			continue
		}
		next, err := call(ctx, r, h, s, x, run)
		if err != nil {
			return Ready{}, err
		}
		if next.Decision != Proceed {
			return next, nil
		}
		all.First = append(all.First, next.First...)
		for at, v := range next.Set {
			if all.Set == nil {
				all.Set = map[string]any{}
			}
			all.Set[at] = v
		}
	}
	return all, nil
}

// Compare returns what is left as it is live.
func (r *Registry) Compare(ctx context.Context, x Subject) ([]Leave, error) {
	var out []Leave
	for _, h := range r.of(x) {
		if h.Compare == nil {
			continue
		}
		more, err := call(ctx, r, h, Compare, x, h.Compare)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// MutateRequest returns a request as the hooks of a resource change it.
func (r *Registry) MutateRequest(ctx context.Context, x Subject, q Request) (Request, error) {
	for _, h := range r.of(x) {
		if h.MutateRequest == nil {
			continue
		}
		given := q
		given.Body = body.Clone(q.Body)
		next, err := call(ctx, r, h, MutateRequest, x, func(ctx context.Context, x Subject) (Request, error) {
			return h.MutateRequest(ctx, x, given)
		})
		if err != nil {
			return Request{}, err
		}
		q = next
	}
	return q, nil
}

// ClassifyError returns the class of a failure, "" if no hook knows it. The first hook that
// knows it decides.
func (r *Registry) ClassifyError(ctx context.Context, x Subject, f Failure) (Class, error) {
	for _, h := range r.of(x) {
		if h.ClassifyError == nil {
			continue
		}
		class, err := call(ctx, r, h, ClassifyError, x, func(ctx context.Context, x Subject) (Class, error) {
			return h.ClassifyError(ctx, x, f)
		})
		if err != nil || class != "" {
			return class, err
		}
	}
	return "", nil
}

// PostReconcile runs what the hooks of a resource do after it was brought in line.
func (r *Registry) PostReconcile(ctx context.Context, x Subject) error {
	for _, h := range r.of(x) {
		if h.PostReconcile == nil {
			continue
		}
		if _, err := call(ctx, r, h, PostReconcile, x, func(ctx context.Context, x Subject) (struct{}, error) {
			return struct{}{}, h.PostReconcile(ctx, x)
		}); err != nil {
			return err
		}
	}
	return nil
}
