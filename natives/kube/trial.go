package kube

import (
	"context"
	"encoding/json"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/app-sre/prcheck/integration"
)

// A Trial lets a cluster check writes that it does not keep. It implements
// [integration.ClusterTrial].
type Trial struct{ c *Connection }

// TryApply implements [integration.ClusterTrial].
func (t *Trial) TryApply(ctx context.Context, ref integration.ObjectRef,
	object json.RawMessage) (json.RawMessage, error) {
	_, was, err := decodeApplied(object, ref)
	isNew := err == nil && was == (integration.Preconditions{})
	prepare := t.c.Application
	if isNew {
		prepare = t.c.Creation
	}
	of, err := prepare(ref, object)
	if err != nil {
		return nil, err
	}
	of.Query.Set("dryRun", meta.DryRunAll)
	raw, err := t.c.Send(ctx, of)
	if err == nil {
		if _, wrong := nameOf(raw, ref); wrong != nil {
			err = t.c.Wrong(of, "the answer is not this object: "+wrong.Error())
		}
	}
	if isNew {
		err = t.c.AsThere(of, err)
	}
	if err != nil {
		return nil, err
	}
	return raw, nil
}
