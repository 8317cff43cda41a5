// Package replay holds what a narrative becomes when it is to be run again: a Plan of Steps, what
// each Step needs of others, what has to be answered before it may run, and how to find out that
// it need not run at all.
//
// Package replay/plan makes plans from recorded commands, replay/script prints them as scripts, and
// an executor runs them. A caller may rely on this:
//
//   - A plan is a function of the narrative and of the request. The same narrative gives the same
//     plan to the byte, in whatever order its commands were read.
//   - ID is a hash of everything that says what would be done: all fields but ID itself and
//     Watermark. Check recomputes it.
//   - Steps are in a topological order of their needs; among those that are free the earlier
//     command comes first. Step.Index is its place, from 0. Steps without a path of needs between
//     them may run side by side, except as Step.Session says.
//   - No step holds a redacted value. Where one stood, Command has the name of a variable, and
//     Asks says so.
package replay
