package reconcile

import (
	"context"
	"errors"
	"fmt"
)

// settle tells the memory what was done.
func (e *execution) settle(ctx context.Context, s Step, isDone bool) error {
	if !isDone || e.memory == nil {
		return nil
	}
	if s.Action != Remove {
		return e.remember(ctx, s)
	}
	left, err := e.doer.Read(ctx, s.Key)
	if err != nil {
		return fmt.Errorf("looking whether it is gone: %w", err)
	}
	if left != nil {
		return nil // deleting takes time; the state forgets it when it is gone
	}
	return e.forget(ctx, s.Key)
}

func (e *execution) remember(ctx context.Context, s Step) error {
	if e.memory == nil {
		return nil
	}
	if err := e.memory.Remember(ctx, s.Key, Record{Applied: s.Item.Body, Policy: s.Item.Policy,
		Deleting: s.Item.Delete}); err != nil {
		return fmt.Errorf("it is done, but not remembered: %w", err)
	}
	return nil
}

func (e *execution) forget(ctx context.Context, k Key) error {
	if e.memory == nil {
		return nil
	}
	if err := e.memory.Forget(ctx, k); err != nil {
		return fmt.Errorf("it is gone, but not forgotten: %w", err)
	}
	return nil
}

// forgetGone forgets a thing that the plan did not find, if it still is not there: another run may
// have made it since then.
func (e *execution) forgetGone(ctx context.Context, s Step) error {
	if s.Thing == nil && e.memory != nil {
		switch fresh, err := e.doer.Read(ctx, s.Key); {
		case err != nil:
			return fmt.Errorf("reading it again: %w", err)
		case fresh != nil:
			return Transient(errors.New("it is there again; the next run compares it"))
		}
	}
	return e.forget(ctx, s.Key)
}
