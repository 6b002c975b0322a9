package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// api is the part of the Kubernetes API that this package uses.
type api interface {
	create(ctx context.Context, job *Manifest, dryRun bool) error
	get(ctx context.Context, namespace, name string) (*Manifest, error)
	remove(ctx context.Context, namespace, name string) error
	listPods(ctx context.Context, namespace, job string) ([]pod, error)
}

// Connect returns the cluster that kubectl would use, and the namespace that its
// settings name. It reads the files that KUBECONFIG lists, or else ~/.kube/config.
// Without a file, and inside a pod, it uses the service account of the pod.
func Connect(getenv func(string) string) (cluster Cluster, namespace string, err error) {
	rules := &clientcmd.ClientConfigLoadingRules{}
	if list := getenv("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := getenv("HOME"); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	settings, err := config.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		err = errors.New("there is no kubeconfig file, and this process runs in no pod")
	}
	if err != nil {
		return Cluster{}, "", fmt.Errorf("reaching the cluster: %w; name the file with KUBECONFIG", err)
	}
	client, err := newClient(settings)
	if err != nil {
		return Cluster{}, "", fmt.Errorf("reaching the cluster: %w", err)
	}
	namespace, _, err = config.Namespace()
	return Cluster{api: client}, namespace, err
}

// A client sends requests for Jobs and pods to an API server, in JSON.
type client struct{ jobs, pods rest.Interface }

func newClient(settings *rest.Config) (client, error) {
	// The scheme has the types that all groups answer with, such as the status of an error.
	scheme := runtime.NewScheme()
	meta.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	connect := func(path string, group schema.GroupVersion) (rest.Interface, error) {
		s := rest.CopyConfig(settings)
		s.Timeout, s.UserAgent = 30*time.Second, rest.DefaultKubernetesUserAgent()+" prcheck"
		s.APIPath, s.GroupVersion = path, &group
		s.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		s.ContentType = runtime.ContentTypeJSON
		return rest.RESTClientFor(s)
	}
	jobs, err := connect("/apis", schema.GroupVersion{Group: "batch", Version: "v1"})
	if err != nil {
		return client{}, err
	}
	pods, err := connect("/api", schema.GroupVersion{Version: "v1"})
	return client{jobs, pods}, err
}

func (c client) create(ctx context.Context, job *Manifest, dryRun bool) error {
	post := c.jobs.Post().Namespace(job.Namespace).Resource("jobs").Param("fieldValidation", meta.FieldValidationStrict)
	if dryRun {
		post = post.Param("dryRun", meta.DryRunAll)
	}
	return send(ctx, post, job, nil)
}

func (c client) get(ctx context.Context, namespace, name string) (*Manifest, error) {
	job := &Manifest{}
	return job, send(ctx, c.jobs.Get().Namespace(namespace).Resource("jobs").Name(name), nil, job)
}

func (c client) remove(ctx context.Context, namespace, name string) error {
	pods := meta.DeletePropagationForeground
	options := meta.DeleteOptions{TypeMeta: meta.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		PropagationPolicy: &pods}
	return send(ctx, c.jobs.Delete().Namespace(namespace).Resource("jobs").Name(name), options, nil)
}

// maxPods is the number of pods of a Job that are read at most.
const maxPods = "50"

func (c client) listPods(ctx context.Context, namespace, job string) ([]pod, error) {
	var list struct{ Items []pod }
	get := c.pods.Get().Namespace(namespace).Resource("pods").Param("labelSelector", jobNameLabel+"="+job).Param("limit",
		maxPods)
	err := send(ctx, get, nil, &list)
	return list.Items, err
}

// jobNameLabel is the label that the cluster gives to the pods of a Job.
const jobNameLabel = "batch.kubernetes.io/job-name"

// send sends a request with a body in JSON, unless the body is nil, and decodes
// the answer into out, unless out is nil.
func send(ctx context.Context, request *rest.Request, body, out any) error {
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		request = request.SetHeader("Content-Type", runtime.ContentTypeJSON).Body(raw)
	}
	answer := request.Do(ctx)
	if err := answer.Error(); err != nil || out == nil {
		return err
	}
	raw, err := answer.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("decoding the answer of the cluster: %w", err)
	}
	return nil
}
