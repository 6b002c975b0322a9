// Package services names the services that native integrations ask besides clusters and buckets:
// git repositories, registries of images, build servers, sources of measurements, and forges. It has
// interfaces alone. Who makes a native gives it the clients.
//
// Credentials are part of a request, because the data name them: whoever asks decides which host
// may get which credential.
package services
