package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/cmd/internal/source"
	"github.com/app-sre/prcheck/plan"
)

// file is the file for the results, "" when they go elsewhere.
func (f runFlags) file() string {
	if source.IsObject(f.out) {
		return ""
	}
	return f.out
}

// patience is how long results are tried to be stored after the run was told to
// end.
const patience = 30 * time.Second

// putResults stores results as an object, also after an interruption: they tell
// what had ended by then.
func putResults(ctx context.Context, ref string, r *plan.Results) error {
	var out bytes.Buffer
	if err := plan.WriteResults(&out, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return source.Put(ctx, ref, out.Bytes())
}

// indexed is a part of a plan as a flag, whose number may be the one that
// Kubernetes gives a pod of an Indexed Job, which counts from 0.
type indexed struct {
	*plan.Fraction
	getenv func(string) string
}

// Set reads i/n, or index/n.
func (p indexed) Set(s string) error {
	of, ok := strings.CutPrefix(s, "index/")
	if !ok {
		return p.Fraction.Set(s)
	}
	i, err := strconv.Atoi(p.getenv("JOB_COMPLETION_INDEX"))
	if err != nil || i < 0 {
		return fmt.Errorf("%s takes the number from JOB_COMPLETION_INDEX, which is %q", s, p.getenv("JOB_COMPLETION_INDEX"))
	}
	return p.Fraction.Set(fmt.Sprintf("%d/%s", i+1, of))
}
