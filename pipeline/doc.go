// Package pipeline is Recount's way to the log: it appends events, follows
// partitions, and runs the Benthos streams between the log and what is made of
// it. Only this package speaks Kafka; with no brokers configured it starts the
// embedded one (pipeline/broker) in the process and talks to it in memory, by
// the same client code.
//
// What a caller may rely on:
//
//   - Append returns after every event is durable (acks=all, idempotent), in the
//     order given within each key, or says which events are not.
//   - Follow, and the Benthos input recount_log, hand out each partition's
//     records in order, one batch at a time, partitions side by side. A batch is
//     handed out again until it was taken; the position moves only then.
//   - Partitions that are added to a topic are read within seconds by those who
//     follow it; the keys of what is appended stay where they are (homes.go).
//   - Offsets are read committed: what a foreign transaction aborted is a gap,
//     and a position moves over gaps.
//   - A position beyond the log's end is ErrFatal: the log lost what had been
//     applied, or it is another log. Nobody guesses.
//
// Nothing here decides where reading starts: projections hold their own
// positions, each stored in one write with its state, and consumer groups serve only stages that keep no
// state.
package pipeline
