// Package verbs holds the verbs that the small program recount does itself (cmd/recount-front). The
// engine has them too (cmd/recount), so that it is complete alone and a command line means the same
// in both. It imports nothing that is slow to start.
package verbs
