// Package schemafilter asks the first two rungs of the ladder about every
// integration: definition, and schema.
//
// It knows which files changed, but not their content, and works on metadata
// only. When these rungs do not decide, the [Outcome] holds the facts that they
// found, so that the rungs above need not look again. The rules, in this order:
//
//   - Nothing runs when both bundles are the same, unless head edits the rules for an
//     integration.
//   - Base decides about an integration that both sides define. When its
//     pr_check, schemas or managed differ, it runs in full, as base defines it.
//   - An integration runs in full when head edits the rules that it is planned by.
//   - An integration that only head defines has no trusted command. An
//     integration that head removes is skipped. The report mentions both.
//   - An integration with always_run runs. An integration without a pr_check, or
//     with a disabled one, is skipped.
//   - A paths rule selects an integration, whatever schemas it may read.
//   - The schemas of the changed files select an integration: the schemas of
//     changed datafiles on either side, the $schema of changed resources, and the
//     schemas of the datafiles that mention a changed resource.
//   - An answer can depend on more than the schemas that are read, such as on whether a
//     reference leads to a file that passes a filter. What runs of an integration have
//     shown is remembered, and selects it as its schemas do.
//   - Any integration may read a changed resource by its path. So the resource runs
//     every integration that has neither queries nor a desired state, unless the
//     settings of that integration say that it never asks for the resource. What else
//     is known of the resource proves nothing: its schema, the datafiles that mention
//     it, or a paths rule that names another integration.
//   - A resource under paths.ignore is no such doubt. It still selects by its schemas.
//   - When a JSON schema or a GraphQL type changed, no integration is skipped
//     because of the schemas that it may read.
//   - An integration whose schemas are not enforced (no_validate_schemas) may
//     read anything, so its schemas prove nothing.
package schemafilter
