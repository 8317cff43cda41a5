// Package streams runs Benthos streams between the log and the projections: its plugins
// (recount_log, recount_project, recount_prometheus, and the names that Redpanda Connect uses for
// them), the streams of a node (Run), and Benthos' own command line (CLI). Only this package and
// processors/adapter import Benthos.
package streams
