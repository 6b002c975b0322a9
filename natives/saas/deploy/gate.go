package deploy

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/plan"
)

// errNoRecords says that nobody named the place of the records of promotions.
var errNoRecords = errors.New("the settings do not name the place of the records (records)")

// ask asks the promotion gates of all cells that are not held already. A closed gate, and one
// that nobody knows, closes the cell.
func (s *side) ask(ctx context.Context) {
	for _, c := range s.cells {
		if c.closed != "" {
			continue
		}
		for _, t := range c.targets {
			if t.Delete || t.Promotion == nil || len(t.Promotion.Subscribe) == 0 {
				continue
			}
			v := s.gate(ctx, t)
			if v.Open {
				continue
			}
			if c.closed == "" {
				c.closed = fmt.Sprintf("the promotion gate of %s is closed: %s", t.Label(), v.Reason)
			}
			f := plan.Finding{Code: CodeGate, Severity: plan.SeverityError, Place: t.place("/ref"),
				Message: fmt.Sprintf("%s: the promotion gate is closed, so nothing of %s is deployed: %s", t.Label(), c.Key(),
					v.Reason)}
			if !v.Opens.IsZero() {
				f.Message += "; it opens at " + v.Opens.UTC().Format("2006-01-02 15:04 UTC")
			}
			if v.Err != nil {
				f.Code, f.Message = CodeUnknown, c.unknown(f.Message)
			}
			s.findings = append(s.findings, f)
		}
	}
}

// gate asks the gate of one target.
func (s *side) gate(ctx context.Context, t *target) promotion.Verdict {
	unknown := func(err error) promotion.Verdict {
		return promotion.Verdict{Reason: "it is not known whether it is open: " + err.Error(), Err: err}
	}
	if t.commit == "" {
		return unknown(t.err)
	}
	records, err := s.run.openRecords(ctx)
	if err != nil {
		return unknown(err)
	}
	of := promotion.Of(s.model, t.Target, s.run.settings.Settings)
	return promotion.Gate(of, t.commit, records.Read(ctx, of, t.commit), s.run.env.Now())
}

// openRecords returns the records of promotions.
func (r *run) openRecords(ctx context.Context) (*promotion.Records, error) {
	return r.records.ask(struct{}{}, func() (*promotion.Records, error) {
		if r.settings.Records == "" {
			return nil, errNoRecords
		}
		if r.env.Bucket == nil {
			return nil, errors.New("this program reaches no bucket")
		}
		bucket, err := r.env.Bucket(ctx, r.settings.Records)
		if err != nil {
			return nil, err
		}
		return promotion.NewRecords(bucket, max(r.env.Workers, 1)), nil
	})
}

// place returns the place of a part of a target.
func (t *target) place(pointer string) plan.Place {
	p := t.Place
	p.Pointer += pointer
	return p
}
