package objects

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A site is the address of a store, under which its buckets are.
type site struct {
	endpoint *url.URL // of a store that is not AWS; nil: AWS
	host     string   // of AWS
}

// hostLabel matches the names of buckets that can be the first label of a host.
var hostLabel = lazyregexp.New(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// address returns the address of a bucket. The bucket is a part of the host at
// AWS if its name allows that, and of the path otherwise.
func (s site) address(bucket string) url.URL {
	switch {
	case s.endpoint != nil:
		u := *s.endpoint
		u.Path = strings.TrimRight(u.Path, "/") + "/" + bucket
		return u
	case hostLabel.MatchString(bucket):
		return url.URL{Scheme: "https", Host: bucket + "." + s.host}
	}
	return url.URL{Scheme: "https", Host: s.host, Path: "/" + bucket}
}

// siteOf returns the endpoint that the settings name, or else that of AWS in the
// region.
func siteOf(ctx context.Context, cfg aws.Config) (site, error) {
	text, err := endpointOf(ctx, cfg)
	if err != nil {
		return site{}, err
	}
	if text == "" {
		return site{host: hostOf(ctx, cfg)}, nil
	}
	endpoint, err := url.Parse(text)
	if err == nil && (endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		err = errors.New("give http://HOST or https://HOST")
	}
	if err != nil {
		return site{}, fmt.Errorf("the endpoint %q in the settings of AWS: %w", text, err)
	}
	return site{endpoint: endpoint}, nil
}

// A source is a place where the SDK looks for settings: the environment, or a
// profile.
type source interface {
	GetServiceBaseEndpoint(ctx context.Context, service string) (string, bool, error)
	GetUseFIPSEndpoint(ctx context.Context) (aws.FIPSEndpointState, bool, error)
	GetUseDualStackEndpoint(ctx context.Context) (aws.DualStackEndpointState, bool, error)
}

// sources returns the places where settings were looked for, in order of
// precedence.
func sources(cfg aws.Config) []source {
	var out []source
	for _, place := range cfg.ConfigSources {
		if s, ok := place.(source); ok {
			out = append(out, s)
		}
	}
	return out
}

// endpointOf returns the first of these settings that is there: AWS_ENDPOINT_URL_S3,
// AWS_ENDPOINT_URL, the endpoint for S3 of the profile, its endpoint for all
// services. It returns "" if there is none, or if all are to be ignored.
func endpointOf(ctx context.Context, cfg aws.Config) (string, error) {
	ignore, _, err := config.GetIgnoreConfiguredEndpoints(ctx, cfg.ConfigSources)
	if err != nil || ignore {
		return "", err
	}
	for _, s := range sources(cfg) {
		if endpoint, found, err := s.GetServiceBaseEndpoint(ctx, "S3"); err != nil || found {
			return endpoint, err
		}
		if env, ok := s.(config.EnvConfig); ok && env.BaseEndpoint != "" {
			return env.BaseEndpoint, nil
		}
	}
	return aws.ToString(cfg.BaseEndpoint), nil
}

// hostOf returns the host of S3 in a region of AWS. The settings for FIPS and for
// IPv6 choose among its hosts.
func hostOf(ctx context.Context, cfg aws.Config) string {
	var fips aws.FIPSEndpointState
	var dualStack aws.DualStackEndpointState
	for _, s := range sources(cfg) {
		if fips == aws.FIPSEndpointStateUnset {
			fips, _, _ = s.GetUseFIPSEndpoint(ctx)
		}
		if dualStack == aws.DualStackEndpointStateUnset {
			dualStack, _, _ = s.GetUseDualStackEndpoint(ctx)
		}
	}
	host := "s3"
	if fips == aws.FIPSEndpointStateEnabled {
		host += "-fips"
	}
	if dualStack == aws.DualStackEndpointStateEnabled {
		host += ".dualstack"
	}
	return host + "." + cfg.Region + "." + domain(cfg.Region)
}

// domain returns the domain of the partition of AWS that a region belongs to.
func domain(region string) string {
	for prefix, domain := range map[string]string{
		"cn-":      "amazonaws.com.cn",
		"eusc-":    "amazonaws.eu",
		"us-iso-":  "c2s.ic.gov",
		"us-isob-": "sc2s.sgov.gov",
		"eu-isoe-": "cloud.adc-e.uk",
		"us-isof-": "csp.hci.ic.gov",
	} {
		if strings.HasPrefix(region, prefix) {
			return domain
		}
	}
	return "amazonaws.com"
}
