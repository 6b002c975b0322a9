package submit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
)

// Files are the files that pods need beside the plan.
type Files struct {
	Settings   []byte // stored only if the plan was made with settings
	Base, Head File
}

// A File is a bundle file with its name for errors.
type File struct {
	Name string
	Raw  []byte
}

// maxFile is the size in bytes up to which a file of the bucket is read.
const maxFile = 4 << 30

// begin stores the files that the pods need, or continues a submission of the same name.
// A submission is continued only if it has the same plan and its first Job still exists:
// otherwise the results in the bucket may come from another Job.
func (s session) begin(ctx context.Context) error {
	first, err := s.jobOf(0).Manifest()
	if err != nil {
		return cli.Usage(err)
	}
	old, err := s.get(ctx, planName)
	if err != nil {
		return err
	}
	if old == nil {
		return s.upload(ctx)
	}
	if used, err := plan.Read(bytes.NewReader(old)); err != nil || used.Digest != s.plan.Digest {
		return cli.Usage(fmt.Errorf("%s has been used for another plan: give the Job another --name", s.folder))
	}
	exists, err := s.Cluster.Has(ctx, first)
	if err == nil && !exists {
		err = cli.Usage(fmt.Errorf("%s has been used, and its Job is gone: give the Job another --name", s.folder))
	}
	if err == nil {
		s.say("continuing the Job %s/%s", first.Namespace, first.Name)
	}
	return err
}

// upload stores settings, bundles and plan, in this order. The bundles must be those
// of the plan.
func (s session) upload(ctx context.Context) error {
	files, err := s.Files(ctx)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		File
		side plan.Side
	}{{files.Base, s.plan.Base}, {files.Head, s.plan.Head}} {
		if err := b.side.CheckBundle(b.Name, fmt.Sprintf("%x", sha256.Sum256(b.Raw))); err != nil {
			return cli.Invalid(err)
		}
	}
	if s.plan.Config != "" {
		if err := s.put(ctx, settingsName, files.Settings); err != nil {
			return err
		}
	}
	if err := s.put(ctx, baseName, files.Base.Raw); err != nil {
		return err
	}
	if err := s.put(ctx, headName, files.Head.Raw); err != nil {
		return err
	}
	var raw bytes.Buffer
	if err := plan.Write(&raw, s.plan); err != nil {
		return err
	}
	return s.put(ctx, planName, raw.Bytes())
}

// put stores a file in the submission's folder.
func (s session) put(ctx context.Context, name string, raw []byte) error {
	if _, err := s.Bucket.Put(ctx, s.key+"/"+name, raw, objects.Any); err != nil {
		return fmt.Errorf("writing %s/%s: %w", s.folder, name, err)
	}
	return nil
}

// get reads a file of the submission's folder, nil if there is none.
func (s session) get(ctx context.Context, name string) ([]byte, error) {
	raw, _, err := s.Bucket.Get(ctx, s.key+"/"+name, maxFile)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s/%s: %w", s.folder, name, err)
	}
	return raw, nil
}
