// Package pipeline connects Recount to its log: it appends events, follows partitions, and applies
// records to projections. Package streams runs the Benthos streams between the two. Only this
// package and its sub-packages speak Kafka. Without configured brokers it starts the embedded one
// (pipeline/broker) in the process and reaches it in memory, with the same client code.
//
// A caller may rely on these properties:
//
//   - Append returns after every event is durable (acks=all, idempotent), in the order
//     given within each key, or reports which events are not.
//   - Follow and Reader, which is the Benthos input recount_log, deliver each partition's records in
//     order, one batch at a time, and partitions in parallel. A batch is delivered again
//     until it is acknowledged; only then does the position move.
//   - Partitions that are added to a topic are read within seconds by its followers.
//     Events of one key continue to go to the same partition (homes.go).
//   - Only committed records are read. The records of an aborted foreign transaction are
//     a gap, and a position moves over gaps.
//   - A position beyond the log's end is ErrFatal: either the log lost records that had
//     been applied, or it is another log.
//
// This package does not decide where reading starts. Projections store their own positions, each in
// one write with its state; consumer groups serve only stages without state.
package pipeline
