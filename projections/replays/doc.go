// Package replays is the projection of what replays did: it stores the events replay.planned,
// replay.step.started, replay.step.ended and replay.ended.
//
// The fold writes rows for each event and looks at no other one; what became of a run is put together
// when a question is asked. Keys, after the kind:
//
//	0x10 Run Event        the record, protobuf
//	0x11 Command Event    a step that began to run the command: the run's name
//	0x12 Time Event       a plan that was begun: the run's name
//
// Run is the first 16 bytes of a hash of the run's name, Command the id of the recorded command, Time
// the time of the event in nanoseconds (8 bytes, big-endian, the sign bit inverted). Event is the shard,
// as package store writes it, and the offset (uint64, big-endian).
package replays
