// Package threeway decides what has to change so that a resource is as the data want it.
//
// It compares three bodies: applied, which was sent last with success; desired, which the data
// say; and live, which the service answers. It is pure: the same input gives the same plan.
//
//   - A member that desired has must be so. null clears it, whoever set it. {} has no opinion
//     about members.
//   - A member that applied has and desired has not is removed, if nobody changed it since.
//   - Whatever is in neither of them is never touched.
//   - If nothing changes, nothing is written.
//   - A body for PUT has every value that the data have and the service does not answer, since a
//     service that replaces what it is sent would lose it.
//
// Items of lists with keys are matched by their keys, those of sets by value; their order never
// counts. A list without either is compared item by item, in its order: what only live has in an item
// does not count. If anything differs, all of it is sent as the data say. A list that is atomic is one value.
//
// A create-only property that changes blocks the plan, or makes it a replacement where the
// resource allows that and the data changed it: drift never destroys. A value that cannot be read back is sent when its
// version changes, or the keyed hash of it that [Remember] keeps.
//
// Everything that a plan shows is masked: [Plan.Changes], [Plan.Violations], [Plan.Warnings]
// and the renderings. The bodies to send ([Plan.Body], [Plan.MergePatch] and [Plan.PutBody])
// hold secrets; they have no place in outputs.
package threeway
