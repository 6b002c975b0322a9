// Package manifests compares objects of Kubernetes with what they should be, and applies them:
// what natives that keep objects on clusters share.
//
// A manifest is an object as it should be: what is applied, without a status. It is applied by
// server-side apply, never by force. The annotation of DigestAnnotation has the digest of the
// manifest that was applied last, so that a field which the manifest no longer has is noticed
// without a request that writes.
package manifests
