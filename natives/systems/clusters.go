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
	writer *kube.Writer
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

// Writer returns what reads and changes the objects of a cluster. It sends no request to the
// cluster yet.
func (s *Systems) Writer(ctx context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) {
	c, err := s.cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.writer, nil
}

// Trial returns what lets a cluster try writes. It sends no request to the cluster yet.
func (s *Systems) Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error) {
	c, err := s.cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.trial, nil
}

// cluster returns a connection. A token that was replaced makes a new one.
func (s *Systems) cluster(ctx context.Context, ref integration.ClusterRef) (openCluster, error) {
	token, err := s.Secret(ctx, ref.Token)
	if err != nil {
		return openCluster{}, fmt.Errorf("the token of cluster %.100q: %w", ref.Name, err)
	}
	if err := s.checkServer(ctx, ref); err != nil {
		return openCluster{}, fmt.Errorf("cluster %.100q: %w", ref.Name, err)
	}
	key := clusterKey{s.integration, ref}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.clusters[key]; ok && c.token == token {
		return c, nil
	}
	access := kube.Access{Name: ref.Name, Server: ref.Server, Token: token, Insecure: ref.Insecure, Integration: s.integration}
	c := openCluster{token: token}
	if c.reader, err = kube.Open(access); err != nil {
		return openCluster{}, err
	}
	if c.writer, err = kube.OpenWriter(access); err != nil {
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
