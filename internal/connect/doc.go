// Package connect connects a verb to the data: to the server that uses the data directory, to a
// server that the user names, or to the directory itself, opened for as long as the verb runs
// (Connector.Open). It knows when to wait for another process, when an event goes into the spool,
// and what a verb that only reads must not create.
package connect
