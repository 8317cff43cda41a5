// Package sessions lists the sessions that are known: of people, from the commands of their shells,
// and of agents, from what they said and did and from the commands that they ran. A session is
// identified by its name and whose it is; for commands of a person also by the host, as names of
// terminals repeat.
//
// The list is computed by one pass over the commands and one over the attributes of agents' objects,
// both of which read few columns. A principal gets only what it sees, as in other answers: commands
// with the grant commands and all workspaces, agents' objects of its audiences.
package sessions
