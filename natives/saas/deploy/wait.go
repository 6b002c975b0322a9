package deploy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// namespaces are the namespaces of a cluster.
var namespaces = integration.Resource{Version: "v1", Plural: "namespaces"}

// lacksNamespace reports whether the cluster says that the namespace is not there. A cluster that
// does not tell, for instance because the token may not ask, says nothing.
func (v *view) lacksNamespace(ctx context.Context, reader integration.ClusterReader) bool {
	_, err := reader.Get(ctx, integration.ObjectRef{Resource: namespaces, Name: v.namespace})
	return errors.Is(err, integration.ErrNotThere)
}

// tellNamespace says in a dry run that a run would wait for the namespace.
func (v *view) tellNamespace(ctx context.Context, reader integration.ClusterReader) {
	if !v.run.writes && len(v.bodies) > 0 && v.lacksNamespace(ctx, reader) {
		v.run.note(CodePartly, v.place, fmt.Sprintf("the namespace %s is not there yet; a run waits for it for %v", v.at,
			v.run.settings.patience()))
	}
}

// prepare waits until the namespace of a part is there, if anything is to be made in it. Namespaces
// are made by another integration, which may be about to do it.
func (r *run) prepare(ctx context.Context, _ integration.Environment, act integration.Actors, p native.Part,
	plan *reconcile.Plan) map[reconcile.Key]error {
	v, err := r.view(p)
	if err != nil {
		return nil // the steps tell it
	}
	var made []reconcile.Key
	for _, s := range plan.Steps {
		if s.Action == reconcile.Create && v.kinds[s.Key].Namespaced {
			made = append(made, s.Key)
		}
	}
	if len(made) == 0 {
		return nil
	}
	writer, err := act.Cluster(ctx, v.cluster)
	if err != nil {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, r.settings.patience())
	defer cancel()
	for pause := firstPause; v.lacksNamespace(limit, writer); pause = min(2*pause, maxPause) {
		if pause == firstPause {
			_, _ = fmt.Fprintf(r.env.Log, "waiting for the namespace %s\n", v.at) // the log is for people
		}
		select {
		case <-limit.Done():
			out := map[reconcile.Key]error{}
			for _, key := range made {
				out[key] = reconcile.Transient(fmt.Errorf("the namespace %s is still not there after %v", v.at,
					r.settings.patience()))
			}
			return out
		case <-time.After(pause):
		}
	}
	return nil
}

// isLeft reports whether the saas file made an object. Outside of namespaces nothing proves that no
// other cell of it still does: those of another environment in the same cluster are not rendered
// here, and the mark of the object names the saas file alone. So such an object stays.
func (v *view) isLeft(t reconcile.Thing) bool {
	return t.Mark.Integration == v.run.env.Integration && t.Mark.Caller == v.file.Name
}
