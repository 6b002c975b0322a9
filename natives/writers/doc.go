// Package writers opens what changes live systems, for native integrations that act: clusters, buckets and APIs. Only
// the program reconciler has it. What reads them is in package natives/systems.
package writers
