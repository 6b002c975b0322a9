// Package objects reads and writes files in S3, or in what speaks like it: whole
// ones with a [Reader], and many, with conditions, with a [Bucket].
//
// Credentials, region and endpoint are found as the AWS SDK finds them: in the
// environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
// AWS_REGION, AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3, AWS_PROFILE, …) and in the
// SDK's own files. An endpoint of one's own is asked in path style, so that the
// bucket needs no name in the DNS.
package objects
