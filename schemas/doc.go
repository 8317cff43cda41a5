// Package schemas defines the vocabulary of Recount: events, records, identifiers, positions,
// hashes and the layout of TBF files. It imports no other package of the module, so every package
// can use it.
//
// These terms are used alike in code, documents and output (docs/glossary.md has all):
//
//   - Event: what a producer appended to the log (CloudEvents 1.0, Kafka
//     binary mode). Its payloads are defined in recount/v1/events.proto.
//   - Record: what a processor made of an event (recount/v1/records.proto).
//   - Position: a topic, a partition and an offset.
//   - Watermark: for each topic-partition, the next offset to read: everything
//     below it has been applied.
//   - Projection: state folded from the log. Shard: a projection's part for one
//     partition. Segment: a sealed TBF file.
//   - Root: a hash that identifies a whole state.
//   - Intent: a command as Recount understands it. Object: what an agent's event made.
//     ObjectRef: one version of an object, by the event's position and a number.
//   - Evidence: events that support an answer. Proof: how they support it.
//
// Errors come in three classes (errors.go): transient, poison and fatal.
package schemas
