// Package schemafilter climbs the first two rungs of the ladder for every
// integration: its own definition, and the schemas it is allowed to read.
//
// It sees which files changed, not what is in them, and works on metadata
// only. What it cannot decide it hands on with what it found, so that the next
// rungs need not look again. The rules, in this order:
//
//   - Nothing runs when the bundles are the same or when every change lies
//     under paths.ignore.
//   - Base decides about an integration that both sides define. When its
//     pr_check, schemas or managed differ it runs in full, as base has it.
//   - So it does when head edits the rules that it is planned by, even if the
//     bundles are the same or all else is ignored.
//   - An integration that only head defines has no trusted command; one that
//     head removes is skipped, and both are said in the report.
//   - always_run runs; no pr_check or a disabled one is skipped.
//   - A paths rule selects an integration whatever its schemas are.
//   - An integration is selected by the schemas, on either side, of the
//     datafiles that changed; by the $schema of changed resources; and by the
//     schemas of the datafiles that mention a changed resource.
//   - A resource without a schema that no datafile mentions and no paths rule
//     covers could be read by anybody: a doubt, which every integration feels
//     that has neither queries nor a desired state.
//   - When a JSON schema or a GraphQL type changed, nothing is skipped here.
//   - An integration whose schemas are not enforced (no_validate_schemas) may
//     read anything, so its schemas prove nothing.
package schemafilter
