// Package access says who asks, and what they may do.
//
// A Gate admits a request by its token and says on whose behalf it comes (a
// schemas.Principal). Who holds the server's own token is the operator, who may do all.
// Another token stands in the tokens file, by its hash, with the tenant, the workspaces,
// the sessions and the agent that it is good for, and until when.
//
// What an operation asks of a principal stands in one table (operations.go). Commands,
// code and spans have no tenant but the default one: a token sees them where its entry
// grants them, and none where it does not say so. A token that is granted
// ingest appends those and does nothing else, so that no instrumented service holds the
// operator's. All else but asking for evidence and appending agents' events is the
// operator's; Own holds an agent's event against the
// principal who appends it.
package access
