// Package recall answers what an agent should be reminded of without having asked: at the start of
// a session (Brief), at a prompt and after a failed command (Recall). Hooks put the answer into the
// agent's context, so it must be short, right, and harmless.
//
// What a caller may rely on:
//
//   - Text of an answer never has more tokens than the request allows, counted by internal/tokens.
//   - Every quoted line begins with "> ", and no other line does. Quotes have no control characters,
//     no terminal sequences and no tags, so no text that was recorded can end its quote, and each has
//     its source, age and position. What a tool printed or a page said is marked as such.
//   - An answer is empty unless the best match stands out: see promptMinimum and failureMinimum.
//   - Only objects that the principal may see have any influence, as in query/evidence, of the
//     request's workspace. Commits are used only if code is granted.
//   - The same request at the same state gives the same answer. Ages count from the request's time,
//     or from the newest object.
//
// A failure is recognised by the lines of its output that complain, with what differs between runs
// removed (marks.go), and its mend is what was done in the same session between the failure and the
// next success of the same command (mend.go).
package recall
