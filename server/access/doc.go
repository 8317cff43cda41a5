// Package access authenticates requests and decides what they may do.
//
// A Gate authenticates a request by its token and returns the principal (a schemas.Principal) on
// whose behalf it acts. The holder of the server's own token is the operator, who may do
// everything. Every other token is listed in the tokens file by its hash, with its tenant,
// workspaces, sessions, agent and expiry.
//
// One table (operations.go) lists what each operation requires of a principal. Commands, code and
// spans belong to the default tenant only: a token sees each of them only if its entry grants it. A
// token with the grant ingest may append commands, commits and spans and do nothing else, so that
// an instrumented service need not hold the operator's token. A token without grants may ask for
// evidence and append its agent's events; all other operations require the operator. Own checks an
// agent's event against the principal that appends it.
package access
