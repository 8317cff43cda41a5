// Package recording defines how a command that was run is recorded: where the data and the settings
// are, what belongs to a command besides its text, and what is omitted. It is shared by the small
// recorder (cmd/recount-record) and the verbs of recount, so it imports nothing that is slow to
// start: no protobuf, no log, no network.
package recording
