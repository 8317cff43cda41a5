// Package hookrun records what an agent's hook reports.
//
// An agent calls `recount hook run AGENT` and waits for it. It reads the agent's message, puts
// events into the spool and exits with 0 and without output, whatever happens. It records a command
// when its tool is about to run, and its outcome when the tool has ended.
//
// A note in the state directory joins the two calls: the first call writes the start time to it
// once the command is in the spool. If the second call finds no note, it spools the command too;
// the command has the same id and remains one event.
package hookrun
