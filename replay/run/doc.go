// Package run executes a replay.Plan, step by step, and writes down each step before and after it.
//
// A caller may rely on this:
//
//   - Before a step its postconditions are checked where the step would run. If all hold, the step is
//     skipped, and its outcome names the checks. A file without a known hash proves nothing, so such a
//     step runs. So does one that changes the shell (Step.Sets) for a step that has to run.
//   - Journal.Started returned before a step begins, and Journal.Ended returned before a step that
//     needs it begins. If a call of the journal fails, nothing further begins and Run returns that error.
//   - Each dangerous part of a step is confirmed by itself, by a question of kind QuestionDanger.
//   - Where the network is open, or there is no sandbox, each program about which nothing is known
//     (Step.Unknown) is confirmed once, by a question of kind QuestionProgram.
//   - A step runs only if all that it needs is so: what it needs was done, skipped as satisfied, or
//     done by the run that is resumed. Otherwise it is blocked, and says by which step.
//   - A step that the resumed run did is not done again, but for a service that ended with that run
//     and is still needed. One that was under way is skipped if its postconditions hold, and else
//     asked about.
//   - When ctx ends, steps that run are ended with all that they started, their ends are written
//     down, and nothing else begins.
//
// Steps of one shell session see what earlier ones set there (variables, functions, aliases,
// options), through a file in Options.Scratch that each such step reads and writes.
package run
