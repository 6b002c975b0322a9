package rounds

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A fake is a native integration of functions. Without run, a run is as a dry run.
type fake struct {
	dry func(ctx context.Context, env integration.Environment) error
	run func(ctx context.Context, env integration.Environment, act integration.Actors) error
}

func (fake) Name() string { return "it" }

func (f fake) DryRun(ctx context.Context, env integration.Environment) error {
	if f.dry == nil {
		return nil
	}
	return f.dry(ctx, env)
}

func (f fake) Run(ctx context.Context, env integration.Environment, act integration.Actors) error {
	if f.run == nil {
		return f.DryRun(ctx, env)
	}
	return f.run(ctx, env, act)
}

// A fixed source has the same bundle all the time.
type fixed struct {
	bundle BundleName
	err    error
	ended  error // of ending the queries
}

func (f *fixed) Open(context.Context, *settings.Settings) (*Data, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &Data{
		Bundle: f.bundle,
		Where:  func(_ context.Context, file, _ string) string { return file },
		Query: func(context.Context, string) (integration.QueryFunc, func() error, error) {
			return nil, func() error { return f.ended }, nil
		},
	}, nil
}

// input returns an input with a fake and a buffer that takes the log.
func input(f fake) (Input, *bytes.Buffer) {
	log := new(bytes.Buffer)
	rules := &settings.Settings{}
	return Input{
		Integration: "it", Natives: []integration.Native{f}, Log: log,
		Settings: func(context.Context) (*settings.Settings, error) { return rules, nil },
		Connect:  func(*settings.Settings, func(string)) Systems { return nowhere{} },
		Data:     &fixed{bundle: BundleName{SHA256: strings.Repeat("a", 64), Timestamp: "1000"}},
	}, log
}

// once makes one round.
func once(t *testing.T, in Input, o Orders) *Report {
	t.Helper()
	return New(in, o).Round(t.Context())
}

// A memory is a store in this process, whose calls take no time.
type memory struct {
	mu   sync.Mutex
	docs map[string][]byte
	fail error // of every call
}

func newMemory() *memory { return &memory{docs: map[string][]byte{}} }

func (m *memory) breakDown(err error) { m.mu.Lock(); m.fail = err; m.mu.Unlock() }

func (m *memory) Read(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, ok := m.docs[key]
	if m.fail == nil && !ok {
		return nil, state.ErrNotFound
	}
	return raw, m.fail
}

func (m *memory) Write(ctx context.Context, key string, raw []byte) error {
	return m.Update(ctx, key, func([]byte) ([]byte, error) { return raw, nil })
}

func (m *memory) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	raw, err := change(m.docs[key])
	if err == nil && raw != nil {
		m.docs[key] = raw
	}
	return err
}

func (m *memory) Remove(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.docs, key)
	return m.fail
}

func (m *memory) List(_ context.Context, folder string) ([]state.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []state.Entry
	for _, key := range slices.Sorted(maps.Keys(m.docs)) {
		if strings.HasPrefix(key, folder) {
			out = append(out, state.Entry{Key: key, Written: time.Now()})
		}
	}
	return out, m.fail
}

func (m *memory) Discard(ctx context.Context, e state.Entry) error { return m.Remove(ctx, e.Key) }

// written returns the keys of documents in some folders.
func (m *memory) written(folder string) []string {
	list, _ := m.List(context.Background(), folder)
	var out []string
	for _, e := range list {
		out = append(out, e.Key)
	}
	return out
}

// errNowhere says that there are no live systems.
var errNowhere = integration.Failure(integration.FailureOfConfig, errors.New("this program reaches no live systems"))

// nowhere are systems without any system.
type nowhere struct{}

func (nowhere) Secret(context.Context, integration.SecretRef) (string, error) { return "", errNowhere }

func (nowhere) Reader(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
	return nil, errNowhere
}

func (nowhere) Trial(context.Context, integration.ClusterRef) (integration.ClusterTrial, error) {
	return nil, errNowhere
}

func (nowhere) Variable(name string) (string, bool) { return "value of " + name, true }

func (nowhere) Writer(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
	return nil, errNowhere
}

func (nowhere) BucketReader(context.Context, string) (integration.BucketReader, error) {
	return nil, errNowhere
}

func (nowhere) BucketWriter(context.Context, string) (integration.BucketWriter, error) {
	return nil, errNowhere
}

func (nowhere) EndpointReader(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}

func (nowhere) EndpointTrial(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}

func (nowhere) PutSecret(context.Context, integration.SecretRef, string) error { return errNowhere }

func (nowhere) EndpointWriter(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}
