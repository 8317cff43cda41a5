// Package runs executes plans for the clients of a server, over HTTP and MCP, and knows the runs that
// are under way.
//
// A caller may rely on this:
//
//   - A run ends when the context of the call ends: the step under way is stopped with all that it
//     started, and that is in the log. It can be resumed, by any API.
//   - A dangerous step is run only if the caller named its hash (replay.Step.Hash), or answers yes to
//     the question about it. Nothing agrees to several. With the network open a program about which nothing
//     is known runs only if the caller named it, or answers yes to the question about it.
//   - Steps have no variable of the server's environment but replaying.Passed, and run with some
//     isolation: a run without any is for the person at the terminal.
//
// Whether a server has one is up to its operator (decision 121).
package runs
