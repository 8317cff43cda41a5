// Package plan makes plans of recorded commands: it slices a narrative down to what its goal rests
// on, maps it to another place, and says what is dangerous about it and what has to be answered.
//
// Make is a pure function of the commands and the request; Answer reads the commands from the
// projections first. The steps, each in a file: commands are read (gather.go), each command's
// effects are joined to those of the commands before it (world.go), the slice is taken (slice.go),
// the order that must be kept is added (order.go), steps are transformed and judged (steps.go).
package plan
