// Package replays answers what replays did: which runs there were, how each step of one ended, which
// files it wrote, and which commands were replayed. It reads the projection replays.
//
// A run is put together from its events in any order: a step's last attempt counts, and an attempt that
// began and has no end was under way when the run was killed. A run without an end is unfinished.
package replays
