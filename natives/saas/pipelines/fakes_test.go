package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
)

// A testCluster has the objects of a scene. All pipelines are there.
type testCluster struct {
	*testScene
	integration.ClusterWriter // other calls panic
}

func keyOf(ref integration.ObjectRef) string {
	return ref.Plural + "/" + ref.Namespace + "/" + ref.Name
}

func (c testCluster) Get(_ context.Context, ref integration.ObjectRef) (json.RawMessage, error) {
	if err := c.did("get " + ref.Plural); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	raw, ok := c.objects[keyOf(ref)]
	switch {
	case ok:
		return raw, nil
	case ref.Plural == "pipelines":
		return json.RawMessage(`{}`), nil
	}
	return nil, integration.ErrNotThere
}

func (c testCluster) List(_ context.Context, of integration.Resource, namespace, _ string) ([]json.RawMessage, error) {
	if err := c.did("list " + of.Plural + " " + namespace); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []json.RawMessage
	for key, raw := range c.objects {
		if strings.HasPrefix(key, of.Plural+"/"+namespace+"/") {
			out = append(out, raw)
		}
	}
	return out, nil
}

func (c testCluster) Create(_ context.Context, ref integration.ObjectRef,
	object json.RawMessage) (json.RawMessage, error) {
	if err := c.did("create"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.objects[keyOf(ref)]; ok {
		return nil, integration.ErrChanged
	}
	c.objects[keyOf(ref)] = object
	c.created = append(c.created, ref.Name)
	return object, c.lost
}

// A testBucket is a bucket of foreign objects.
type testBucket struct{ objects map[string]testObject }

type testObject struct {
	raw     string
	written time.Time
}

func (b *testBucket) Get(_ context.Context, key string) ([]byte, string, error) {
	o, ok := b.objects[key]
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return []byte(o.raw), "1", nil
}

func (b *testBucket) Keys(ctx context.Context, prefix string) ([]string, error) {
	list, err := b.Entries(ctx, prefix)
	var out []string
	for _, e := range list {
		out = append(out, e.Key)
	}
	return out, err
}

func (b *testBucket) Entries(_ context.Context, prefix string) ([]integration.BucketEntry, error) {
	var out []integration.BucketEntry
	for key, o := range b.objects {
		if strings.HasPrefix(key, prefix) {
			out = append(out, integration.BucketEntry{Key: key, Written: o.written})
		}
	}
	slices.SortFunc(out, func(a, b integration.BucketEntry) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// record says that a publisher ran a commit.
func (b *testBucket) record(channel, uid, sha, checkIn string) {
	b.objects["state/openshift-saas-deploy/promotions_v2/"+channel+"/"+uid+"/"+
		sha] = testObject{raw: `{"success": true, "target_config_hash": null, "saas_file": "shop", "check_in": "` + checkIn +
		`", "has_succeeded_once": true}`}
}

var errDown = errors.New("no answer")

// buildOf returns a build that succeeded.
func buildOf(n int) services.Build { return services.Build{Number: n, Result: "SUCCESS"} }

// jsonOf returns a value as text.
func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
