// Package replaying executes a plan and writes the run to the log: what the verb replay, the HTTP API
// and the MCP server have in common.
//
// A caller may rely on this:
//
//   - Start begins a new run, Resume goes on with one that was killed, stopped or not applied, and
//     Discard forgets what one wrote. Each holds the lock of the directory until it returns; where
//     another replay holds it, the error is a *sandbox.BusyError.
//   - Options.Progress gets every event as a value that encodes to JSON. The first is EventRun, the
//     last EventDone; a run that could not begin has none.
//   - Nothing is asked unless Options.Confirm is given: without it, every question is answered no.
//   - What the steps wrote is kept in Options.State until it was applied or discarded.
package replaying
