// Package httpapi is the HTTP API: the endpoints under /v1, their OpenAPI description, and a
// client. It serves an api.Backend and knows nothing about how a node works.
//
// A caller may rely on the following. An error is an RFC 9457 problem that names the field and says
// what would be right. A request body is bounded before it is read. A panic in a handler answers
// 500 and affects no other request. Every answer carries an X-Request-Id, which is the caller's own
// if it is short and plain.
package httpapi
