// Package importing brings in what was there before: histories, commits, spans, access logs, agents'
// sessions and events one a line. Run opens the log and calls a function with an Importer, which
// appends in batches, skips what is there already and counts what it did. Repositories have an
// engine of their own, because contents depend on the commits before them (Repositories, Follow).
package importing
