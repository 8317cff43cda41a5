// Package recallhook is the half of an agent's hook that puts memory into its context: recount-record
// runs it as `recount-record hook run AGENT`. It asks the server what bears on the moment that the
// hook reports, and prints the answer in the format of the agent's hooks.
//
// What a caller may rely on:
//
//   - It never fails and never forbids a tool: whatever is wrong, it prints nothing and exits with 0.
//   - It waits for the server until Deadline at most, counted from the start of the process, whatever
//     it hangs in: connecting, waiting, an answer that trickles. Without a server it asks nobody. No
//     name is looked up.
//   - It ends at Limit, whatever else it does, with exit code 0, but not before it has tried to start
//     the recorder. Its outputs end before that, since the agent reads them to their end.
//   - It prints at most one JSON object, and no item twice in a session: their ids are in a file of
//     the state directory until the session's context is cleared or compacted.
//   - What the hook records is recorded as before, by `recount hook run AGENT` beside this program,
//     with the same input, started once the server has answered. That process is waited for only
//     before a tool runs, since the outcome that follows must find its start, and until Limit.
//
// The program must start in a few milliseconds, so it speaks HTTP without a library. It asks only a server on http://; nothing is recalled from a
// server on https://.
//
// The formats are those of code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks and
// geminicli.com/docs/hooks/reference, as of 2026.
package recallhook
