// Package nodeview prints what is known of the log and of the process that holds it: status,
// records, checks, erasures, retention, imports and tokens.
package nodeview
