package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/natives/generic/body"
)

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
