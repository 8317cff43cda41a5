// Package danger finds what is dangerous about a command: what can destroy data, reach other people
// or other machines, or cannot be taken back.
//
// The rules are one table, in table.go. Find reads a command as its shell does, through sudo, env,
// xargs, find -exec, sh -c and the like, and never by searching its text, so that
// `echo "rm -rf /"` is no danger and `sudo sh -c 'rm -rf /'` is.
package danger

// Finding is one dangerous thing that a command does.
type Finding struct {
	Kind string `json:"kind" enum:"remove,disk,history,cluster,infrastructure,publish,mail,send,permissions,service,database,remote,power,process,unknown-code" example:"remove" doc:"What it endangers."`
	What string `json:"what" example:"rm -rf /var/lib/app" doc:"The part of the command that does it."`
	Why  string `json:"why" example:"it removes files outside the mapped tree, with all below them" doc:"What it does, as a sentence."`
}
