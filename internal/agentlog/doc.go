// Package agentlog reads the runs that agents leave behind and makes events of them: the
// trajectories of SWE-agent and OpenHands, transcripts in the forms of OpenAI's and
// Anthropic's interfaces, the sessions of Claude Code, and events one a line. It touches
// neither the log nor the network: a caller ranges over the events and appends them.
//
// What a caller may rely on:
//
//   - Imported twice is once. An event's id is a hash of the tenant, the session, the
//     run's own id of it and, where that is not unique in the world, of what it says and
//     what it follows from. It depends neither on the workspace nor on the agent's name
//     (though the log takes the same id in another workspace for another event), and a
//     run that has grown gives its old events their old ids.
//   - Every event names the one that it follows from, where the format tells: a result its
//     call, a call the message that it is part of, a message what was said before it.
//   - What a format does not know is left out: an event without a time has no
//     occurred_at, and its source ends in "/untimed", so that nobody takes
//     Options.Time for an observation.
//   - What cannot be used is told and skipped: the loop gets a *SkipError with the line
//     and the reason, and goes on. Any other error ends the loop: the file could not be
//     read. What is left out on purpose (instructions to a model, images) is counted by
//     Options.LeftOut.
//   - Secrets are taken out before a text is cut and before an id is made.
//   - Memory is bounded by the longest document, at most 256 MB, and by a few dozen bytes
//     an event.
//
// # What becomes what
//
//	said by a user                 user_message
//	said by an agent               assistant_message; what it thought before: thought
//	a call of a tool               tool_call_issued; of a shell: with tool.command
//	its result                     tool_result_returned, its parent is the call
//	a list of things to do         plan_updated, its parent the call that wrote it
//	work given to another agent    handoff_occurred
//	a file or directory opened     state_changed (SWE-agent)
//	the patch that a run ends with artifact_produced
//	a run's start and end          task_started, task_finished
//	a summary of a conversation    memory_stated
//
// # Long texts
//
// A text longer than 1 MiB is cut: its first two thirds and its last third are kept, with
// a line between that says how much is missing, and the event's attribute
// "cut.<field>" holds the length and the SHA-256 of the whole.
package agentlog
