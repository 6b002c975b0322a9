// Package asking opens what a decision about one merge request is made of: who may approve each difference between two
// revisions by the rules of base, what was approved before, and who said something about older versions.
//
//	a := asking.New(asking.Place{…})
//	in, inHead, err := a.Input(ctx, "git:BASE@DIR", "git:HEAD@DIR")
//	outcome, err := review.Run(ctx, in)
package asking
