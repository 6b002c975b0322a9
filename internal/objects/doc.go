// Package objects reads and writes objects in S3, or in another store that speaks
// like S3: a [Reader] reads whole objects, and a [Bucket] reads, lists, and writes
// under conditions.
//
// Region, endpoint, credentials, retries and certificates are those that the AWS
// SDK finds in the environment (AWS_REGION, AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3,
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE,
// AWS_MAX_ATTEMPTS, …) and in the files of the SDK. With an endpoint the bucket is
// a part of the path, so that it needs no name in the DNS.
//
// The requests are written here, and the SDK signs and sends them; see decision
// 26. Directory buckets, and ARNs in the place of the name of a bucket, are not
// supported.
package objects
