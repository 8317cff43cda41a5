// Package api is the contract between Recount and its clients: the interface Backend, which a node
// implements in its process and a client implements over HTTP, the requests and answers of its
// operations, and the errors that both sides know.
package api
