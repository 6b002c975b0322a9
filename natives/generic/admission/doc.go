// Package admission answers a Kubernetes API server that asks whether a custom resource of the
// kind GenericResource may be stored.
//
// The server sends an AdmissionReview (v1 or v1beta1) and gets one of the same version. The
// body of the resource is checked as a datafile is: by the same schemas, the same classes and
// the same three-way plan, with the stored object in the place of base. A mistake refuses the
// request with the status 422 and one cause for each field. Three things never do:
//
//   - A mistake that the stored object has already is a warning. Nobody is locked out of
//     mending something else.
//   - The status of an object, and an object that is being deleted, are not looked at.
//   - Objects of another kind are none of our business.
//
// The answer needs no call to anywhere. Nothing is remembered, so a dry run needs nothing.
//
// Each review has a budget of time. Large ones have places of their own, so that small ones never
// wait for them. What is not judged when the budget ends is refused: a doubt lets nothing in.
package admission
