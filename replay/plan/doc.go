// Package plan turns recorded commands into a plan: it slices a narrative down to the commands that
// its goal depends on, maps them to another place, and lists what is dangerous about them and which
// questions have to be answered before they run.
//
// Make is a pure function of the commands and the request; Answer first reads the commands from the
// projections. Each stage has a file:
//
//   - gather.go reads the commands.
//   - world.go records what each command writes, and rests.go which earlier commands it depends on;
//     git.go and undone.go know commands of git, and commands that undo others, moved.go directories
//     that are renamed, services.go and products.go services and builds, and idle.go lines of git that
//     were seen to change nothing.
//   - texts.go has the texts of files that commands wrote down.
//   - observer.go and seen.go replace what a program may have written by what it was seen to write,
//     content.go finds acts that leave files as they were before, and anew.go programs whose last run
//     makes all of a file again.
//   - slice.go keeps the commands that the goal depends on, and those that remove what they made.
//   - make.go calls all stages, finds values that can be set (parameters.go) and adds the
//     dependencies that only keep an order.
//   - steps.go transforms and judges each step, with the variables that are known before it
//     (variables.go) and what lines told their shell (told.go); contents.go and settled.go add what
//     earlier runs left.
package plan
