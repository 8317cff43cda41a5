// Package runtimeview prints answers about what runs: traffic, calls, services, traces and what led
// to a failing span.
package runtimeview
