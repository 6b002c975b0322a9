package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/generic/admission"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/webhook"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/source"
)

// webhookFlags are the flags of webhook generic.
type webhookFlags struct {
	bundle, config, api, listen string
	certificate, key            string
	inferred                    cli.Choice
	protect, print              bool
	every                       time.Duration
	configuration               admission.Configuration
	ca                          string
	failure                     cli.Choice
}

func webhookCommand(env cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Answer a Kubernetes API server that asks whether an object may be stored",
	}
	cmd.AddCommand(webhookGenericCommand(env))
	return cmd
}

func webhookGenericCommand(env cli.Env) *cobra.Command {
	f := webhookFlags{inferred: cli.OneOf("refuse", "warn"), failure: cli.OneOf("Fail", "Ignore")}
	cmd := &cobra.Command{
		Use:   "generic --bundle REF --tls-cert FILE --tls-key FILE [flags]",
		Short: "Validate custom resources that describe resources of APIs",
		Long: `generic answers reviews of objects of the kind GenericResource.prcheck.dev, whose spec is an
entry as a datafile has it. It refuses what planner check generic calls an error, and what
the stored object has already is a warning only. It asks nobody while it answers.

The specifications are those of the APIs in the bundle. They are read before anything is
served, and again at each interval of --reload; if that fails, the old ones stay in use.

It answers within a second. What it cannot check by then is refused; so is a large object
while too many others are checked.

Paths: /validate, /healthz and /metrics. After ctrl-C or SIGTERM no new request is taken,
and running ones have 10 seconds to end.

--print-configuration writes the CustomResourceDefinition and the
ValidatingWebhookConfiguration, and serves nothing.`,
		Example: `  reconciler webhook generic --print-configuration --service prcheck/webhook --ca ca.pem | kubectl apply -f -
  reconciler webhook generic --bundle bundle.json --tls-cert tls.crt --tls-key tls.key --listen :8443
  reconciler webhook generic --bundle git:main --tls-cert tls.crt --tls-key tls.key --inferred warn --protect-deletes`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.print {
				return f.printConfiguration(env)
			}
			return f.serve(cmd.Context(), env)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.bundle, "bundle", "", "bundle with the APIs and their specifications: a file, git:REV[@DIR], "+
		"dir:PATH or s3://BUCKET/KEY (required)")
	flags.StringVar(&f.config, "config", "", "settings file, which says where the parts of a checkout are (default "+
		"prcheck.yaml if it exists)")
	flags.StringVar(&f.api, "api", "", "name of the API whose types count (default: all)")
	flags.StringVar(&f.listen, "listen", ":8443", "address to listen at")
	flags.StringVar(&f.certificate, "tls-cert", "", "file of the certificate, in PEM; read again when it changes "+
		"(required)")
	flags.StringVar(&f.key, "tls-key", "", "file of its key (required)")
	flags.Var(&f.inferred, "inferred", "what to do with a change of a property that is probably create-only: refuse "+
		"or warn")
	flags.BoolVar(&f.protect, "protect-deletes", false,
		`refuse to delete an object that is managed and has no "delete: true"`)
	flags.DurationVar(&f.every, "reload", time.Minute, "interval at which the bundle is read again; 0 never")
	flags.BoolVar(&f.print, "print-configuration", false, "write the configuration for the API server, and serve nothing")
	flags.StringVar(&f.configuration.Service, "service", "",
		"service in front of the webhook, NAMESPACE/NAME, for --print-configuration")
	flags.StringVar(&f.configuration.URL, "url", "",
		"https address of the webhook if it has no service, for --print-configuration")
	flags.StringVar(&f.ca, "ca", "", "file with the certificates that the API server is to trust, for "+
		"--print-configuration")
	flags.Var(&f.failure, "failure-policy", "what the API server does when the webhook does not answer: Fail or Ignore, "+
		"for --print-configuration")
	return cmd
}

func (f *webhookFlags) printConfiguration(env cli.Env) error {
	c := f.configuration
	c.Failure = f.failure.String()
	if f.ca != "" {
		var err error
		if c.CA, err = webhook.ReadFile(f.ca); err != nil {
			return cli.Invalid(fmt.Errorf("--ca: %w", err))
		}
	}
	if err := c.Write(env.Stdout); err != nil {
		return cli.Usage(err)
	}
	return nil
}

func (f *webhookFlags) serve(ctx context.Context, env cli.Env) error {
	for _, one := range []struct{ flag, value string }{{"--bundle", f.bundle}, {"--tls-cert", f.certificate},
		{"--tls-key", f.key}} {
		if one.value == "" {
			return cli.Usage(errors.New(one.flag + " is required"))
		}
	}
	note := func(line string) { _, _ = fmt.Fprintln(env.Stderr, "reconciler: "+sanitize.Line(line)) } // only a note
	certificate, err := webhook.OpenCertificate(f.certificate, f.key, note)
	if err != nil {
		return cli.Invalid(err)
	}
	loader := loader{flags: f, open: source.In(env), reader: &cloud.Reader{}}
	known, err := loader.load(ctx)
	if err != nil {
		return err
	}
	h := admission.NewHandler(known, admission.Options{WarnInferred: f.inferred.String() == "warn",
		ProtectDeletes: f.protect})
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listening: %w; choose another address with --listen", err)
	}
	note(fmt.Sprintf("webhook at https://%s/validate", l.Addr()))
	reload := func(ctx context.Context) {
		known, err := loader.load(ctx)
		switch {
		case err != nil:
			note(err.Error() + "; the old specifications stay in use")
			h.Keep()
		case known != nil:
			h.Use(known)
		}
	}
	return webhook.Serve(ctx, l, webhook.Serving{Handler: h, Certificate: certificate, Reload: reload, Every: f.every})
}

// A loader reads the types of the webhook from a bundle.
type loader struct {
	flags  *webhookFlags
	open   source.Opener
	reader *cloud.Reader
	last   string // sha256 of the bundle that was read last
}

// load reads the types, nil if the bundle is the one that was read last.
func (l *loader) load(ctx context.Context) (*admission.Known, error) {
	settings, err := source.ReadSettings(l.flags.config)
	if err != nil {
		return nil, err
	}
	l.open.Settings = settings
	b, err := l.open.Bundle(ctx, l.flags.bundle, nil)
	if err != nil {
		return nil, err
	}
	if b.SHA256() == l.last {
		return nil, nil
	}
	known, err := l.read(ctx, b)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("bundle %q: %w", l.flags.bundle, err))
	}
	l.last = b.SHA256()
	return known, nil
}

func (l *loader) read(ctx context.Context, b *bundle.Bundle) (*admission.Known, error) {
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		return nil, err
	}
	m, err := l.reader.Read(ctx, affected.PartialQuerier(gql.New(b, schema)))
	if err != nil {
		return nil, err
	}
	return admission.NewKnown(m, l.flags.api)
}
