package kube

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// api is what is used of a cluster.
type api interface {
	create(ctx context.Context, job *batch.Job, dryRun bool) error
	get(ctx context.Context, namespace, name string) (*batch.Job, error)
	remove(ctx context.Context, namespace, name string) error
	pods(ctx context.Context, namespace, job string) ([]core.Pod, error)
}

// Connect reads the files that kubectl reads: those of KUBECONFIG, or
// ~/.kube/config, and inside a pod the pod's own account. It returns the
// namespace that they name as well.
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
		err = errors.New("no file says where it is, and this is no pod")
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

// A client speaks with an API server. It knows the two groups that are needed:
// the clients of all groups would triple the size of the program.
type client struct{ batch, core rest.Interface }

func newClient(settings *rest.Config) (client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(batch.AddToScheme(scheme), core.AddToScheme(scheme)); err != nil {
		return client{}, err
	}
	meta.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	of := func(group schema.GroupVersion, path string) (rest.Interface, error) {
		s := rest.CopyConfig(settings)
		s.Timeout, s.UserAgent = 30*time.Second, rest.DefaultKubernetesUserAgent()+" prcheck"
		s.GroupVersion, s.APIPath = &group, path
		s.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		s.ContentType = runtime.ContentTypeJSON // readable where somebody looks at it
		return rest.RESTClientFor(s)
	}
	jobs, err := of(batch.SchemeGroupVersion, "/apis")
	if err != nil {
		return client{}, err
	}
	pods, err := of(core.SchemeGroupVersion, "/api")
	return client{jobs, pods}, err
}

func (c client) create(ctx context.Context, job *batch.Job, dryRun bool) error {
	post := c.batch.Post().Namespace(job.Namespace).Resource("jobs").Param("fieldValidation", meta.FieldValidationStrict)
	if dryRun {
		post = post.Param("dryRun", meta.DryRunAll)
	}
	return post.Body(job).Do(ctx).Error()
}

func (c client) get(ctx context.Context, namespace, name string) (*batch.Job, error) {
	job := &batch.Job{}
	return job, c.batch.Get().Namespace(namespace).Resource("jobs").Name(name).Do(ctx).Into(job)
}

func (c client) remove(ctx context.Context, namespace, name string) error {
	pods := meta.DeletePropagationForeground
	return c.batch.Delete().Namespace(namespace).Resource("jobs").Name(name).Body(&meta.DeleteOptions{
		TypeMeta: meta.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}, PropagationPolicy: &pods}).Do(ctx).Error()
}

// maxPods bounds how many pods are looked at.
const maxPods = "50"

func (c client) pods(ctx context.Context, namespace, job string) ([]core.Pod, error) {
	list := &core.PodList{}
	err := c.core.Get().Namespace(namespace).Resource("pods").Param("labelSelector", batch.JobNameLabel+"="+job).
		Param("limit", maxPods).Do(ctx).Into(list)
	return list.Items, err
}
