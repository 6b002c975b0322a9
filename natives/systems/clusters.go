package systems

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
)

// maxClusters is how many connections are kept.
const maxClusters = 1000

// A clusterKey names a connection.
type clusterKey struct {
	integration string
	ref         integration.ClusterRef
}

// An openCluster is a connection with the token that it was made with.
type openCluster struct {
	token  string
	reader *kube.Objects
	trial  *kube.Trial
}

// Reader returns what reads the objects of a cluster. It sends no request to the cluster yet.
func (s *Systems) Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
	c, err := s.cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.reader, nil
}

// Trial returns what lets a cluster try writes. It sends no request to the cluster yet.
func (s *Systems) Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error) {
	c, err := s.cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.trial, nil
}

// Access says how a cluster is reached, with the token that its secret has now. A token goes only to the server for
// which it was made. It sends no request to the cluster.
func (s *Systems) Access(ctx context.Context, ref integration.ClusterRef) (kube.Access, error) {
	token, err := s.Secret(ctx, ref.Token)
	if err != nil {
		return kube.Access{}, fmt.Errorf("the token of cluster %.100q: %w", ref.Name, err)
	}
	if err := s.checkServer(ctx, ref); err != nil {
		return kube.Access{}, fmt.Errorf("cluster %.100q: %w", ref.Name, err)
	}
	return kube.Access{Name: ref.Name, Server: ref.Server, Token: token, Insecure: ref.Insecure,
		Integration: s.integration}, nil
}

// cluster returns a connection. A token that was replaced makes a new one.
func (s *Systems) cluster(ctx context.Context, ref integration.ClusterRef) (openCluster, error) {
	access, err := s.Access(ctx, ref)
	if err != nil {
		return openCluster{}, err
	}
	key := clusterKey{s.integration, ref}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.clusters[key]; ok && c.token == access.Token {
		return c, nil
	}
	c := openCluster{token: access.Token}
	if c.reader, err = kube.Open(access); err != nil {
		return openCluster{}, err
	}
	if c.trial, err = kube.OpenTrial(access); err != nil {
		return openCluster{}, err
	}
	if len(s.clusters) < maxClusters {
		s.clusters[key] = c
	}
	return c, nil
}
