// Package feedback answers what was useful: of a subject (a symbol, a file, an event of an agent, a
// command), and for tasks like a given one. It reads the projection feedback.
//
// Only what the asker may see counts: feedback of the asker's own tenant, from the asker's workspaces.
// Of several votes by one session (or, outside sessions, one agent or person) about a subject and
// a task, the last counts, so that nobody counts twice. A vote loses half its weight in HalfLife. The
// time that counts as now is the newest time that the tenant's feedback states, so that the same
// state gives the same answer on any day. What a context call showed is counted and is no vote.
package feedback
