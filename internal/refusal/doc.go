// Package refusal says why an API server of Kubernetes forbids a request, and what to do about it. The server has one
// status for all reasons (403), and only its text tells them apart.
package refusal
