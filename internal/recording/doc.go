// Package recording says what a command that was run is recorded as: where the data and
// the settings are, what belongs to a command besides its text, and what is left out. It
// is what the small recorder (cmd/recount-record) and the verbs of recount have in
// common, so it imports nothing that is slow to start: no protobuf, no log, no network.
package recording
