// Package httpapi is the HTTP door: the API under /v1, its OpenAPI description,
// and a client of it. The package knows HTTP and nothing of how a node works: it
// serves a Backend.
//
// What a caller may rely on: an error is an RFC 9457 problem that names the
// field and says what would be right; a request body is bounded before it is
// read; a panic in a handler answers 500 and harms no other request; every
// answer carries an X-Request-Id, the caller's own if it sent a sensible one.
package httpapi
